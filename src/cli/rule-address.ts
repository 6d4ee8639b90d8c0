// Where the pages of rules can be read: at RULES_URL, which an operator or a fork may set, or in the project itself.

const project = 'https://github.com/catalog-bot/catalog-bot/blob/main/docs/rules/'

/** The address that `<id>.md` follows. */
export function rulePages(): string {
  const { RULES_URL: own } = process.env
  if (own === undefined || own === '') return project
  return own.endsWith('/') ? own : `${own}/`
}

export function rulePage(id: string): string {
  return `${rulePages()}${encodeURIComponent(id)}.md`
}
