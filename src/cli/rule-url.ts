// Where the pages of rules can be read: at RULES_URL, which an operator or a fork may set, or in the project itself.

const defaultRulesUrl = 'https://github.com/catalog-bot/catalog-bot/blob/main/docs/rules/'

/** The address that `<id>.md` follows. */
export function rulesBaseUrl(): string {
  const { RULES_URL: own } = process.env
  if (own === undefined || own === '') return defaultRulesUrl
  return own.endsWith('/') ? own : `${own}/`
}

export function ruleUrl(id: string): string {
  return `${rulesBaseUrl()}${encodeURIComponent(id)}.md`
}
