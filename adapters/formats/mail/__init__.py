"""Mail, calendars and contacts."""
