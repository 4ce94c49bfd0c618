/** Preloaded into child processes: when whoever forked this one dies, however it died, so does this. */
process.once("disconnect", () => process.exit(1));
process.channel?.unref();
