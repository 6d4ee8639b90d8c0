/** Where the configuration lies in a repository. Apart from its schema, for those who only look whether there is one. */
export const configPath = '.github/catalog-bot.yml'
