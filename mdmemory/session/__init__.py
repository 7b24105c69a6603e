"""What an assistant needs within a session and across its compactions: state, never notes."""
