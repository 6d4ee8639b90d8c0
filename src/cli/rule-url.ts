// The URLs of rule pages: below RULES_URL, which a bot administrator can set, or in the repository of the release.
import { readCatalogBotVersion, readReleaseDistribution } from './version.ts'

/** The URL prefix before `<id>.md`. Undefined in a checkout, whose pages `catalog-bot rule` prints. */
export function getRulesBaseUrl(): string | undefined {
  const { RULES_URL: own } = process.env
  if (own !== undefined && own !== '') return own.endsWith('/') ? own : `${own}/`
  const repository = readReleaseDistribution()?.repository
  return repository === undefined
    ? undefined
    : `https://github.com/${repository}/blob/v${readCatalogBotVersion()}/docs/rules/`
}

export function getRuleUrl(id: string): string | undefined {
  const base = getRulesBaseUrl()
  return base === undefined ? undefined : `${base}${encodeURIComponent(id)}.md`
}
