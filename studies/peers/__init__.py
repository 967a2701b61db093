"""Side by side with the programs that users have today; see README.md beside this file."""
