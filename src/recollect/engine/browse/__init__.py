"""Looking at what is remembered: whole memories, lists, a timeline. Nothing here leaves a trace."""
