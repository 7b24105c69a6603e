"""What lies in OpenCode's folders for us: put there, brought up to date, looked at, taken back."""
