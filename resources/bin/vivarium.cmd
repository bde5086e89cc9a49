@echo off
rem The command line of the installed Vivarium: runs the app's own program with a command instead of opening its window.
rem A batch file waits for it and takes over its exit code; the prompt alone would not.
"%~dp0..\..\Vivarium.exe" --log-level=3 --js-flags=--max-semi-space-size=16 --command-line -- %*
