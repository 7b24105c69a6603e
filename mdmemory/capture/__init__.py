"""From a session to notes: words are noticed (`notice`, `wishes`) and become a candidate (`fact`,
`candidates`), the user's words prove it (`quote_proof`), its form is the gate (`fact`, `judge`),
and with the notes near it all is planned and written (`batch`)."""
