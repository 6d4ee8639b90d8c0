/**
 * The path of the configuration in a repository. Separate from the schema, so that checking for the file does not load the
 * schema.
 */
export const configPath = '.github/catalog-bot.yml'
