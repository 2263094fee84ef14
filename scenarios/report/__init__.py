"""What a run looks like: pictures, an animation, a summary; nothing here changes a run."""
