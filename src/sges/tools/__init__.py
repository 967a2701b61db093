"""What people do with a table or a result: pictures, reports, files, effects, comparisons."""
