// The URLs of rule pages: below RULES_URL, which a bot administrator or a fork can set, or in the project's repository.

const defaultRulesUrl = 'https://github.com/catalog-bot/catalog-bot/blob/main/docs/rules/'

/** The URL prefix before `<id>.md`. */
export function getRulesBaseUrl(): string {
  const { RULES_URL: own } = process.env
  if (own === undefined || own === '') return defaultRulesUrl
  return own.endsWith('/') ? own : `${own}/`
}

export function getRuleUrl(id: string): string {
  return `${getRulesBaseUrl()}${encodeURIComponent(id)}.md`
}
