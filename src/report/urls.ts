// Builds and reads the addresses of all pages.
import type { RepositoryName } from '../pull-request/snapshot.ts'
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'

export interface PullUrlParts {
  /** The base URL of GitHub's website, `https://github.com`. */
  readonly web: string
  readonly repository: RepositoryName
  readonly pull: PullNumber
}

/** Also encodes characters that end a Markdown link. */
const encodePathSegment = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )

export const homePageUrl = '/'

export const formatRepositoryPageUrl = ({ owner, name }: RepositoryName): string =>
  `/r/${encodePathSegment(owner)}/${encodePathSegment(name)}`

export const formatPullPageUrl = (repository: RepositoryName, pull: number): string =>
  `${formatRepositoryPageUrl(repository)}/pull/${pull}`

export const formatOverviewPageUrl = (repository: RepositoryName): string =>
  `${formatRepositoryPageUrl(repository)}/overview`

export const formatMergedPullsPageUrl = (repository?: RepositoryName): string =>
  `${repository === undefined ? '' : formatRepositoryPageUrl(repository)}/merged`

export const formatCatalogsPageUrl = (repository: RepositoryName): string =>
  `${formatRepositoryPageUrl(repository)}/catalog`

export const formatCatalogPageUrl = (
  repository: RepositoryName,
  catalog: string,
  packageName?: string,
): string =>
  `${formatCatalogsPageUrl(repository)}/${encodePathSegment(catalog)}${packageName === undefined ? '' : `/${encodePathSegment(packageName)}`}`

export const formatComparePageUrl = (repository: RepositoryName): string =>
  `${formatRepositoryPageUrl(repository)}/compare`

export const formatOperationsPageUrl = (repository: RepositoryName): string =>
  `${formatRepositoryPageUrl(repository)}/operations`

export const formatRulePageUrl = (id?: string): string =>
  id === undefined ? '/rules' : `/rules/${encodePathSegment(id)}`

export const formatEventsUrl = (repository: RepositoryName): string =>
  `${formatRepositoryPageUrl(repository)}/events`

export const formatSignInUrl = (to: string): string => `/sign-in?to=${encodePathSegment(to)}`

export type StatusPageFormat = 'html' | 'json' | 'atom' | 'svg' | 'css' | 'js'

export type StatusPageRequest =
  | { readonly page: 'home' | 'overview' | 'merged' | 'rules' | 'style' | 'script' }
  | { readonly page: 'sign-in' | 'signed-in' }
  | { readonly page: 'sign-out' }
  | { readonly page: 'rule'; readonly id: string }
  | {
      readonly page:
        | 'repository'
        | 'repository-overview'
        | 'repository-merged'
        | 'catalogs'
        | 'compare'
        | 'operations'
        | 'badge'
      readonly repository: RepositoryName
    }
  | { readonly page: 'events'; readonly repository: RepositoryName }
  | { readonly page: 'resume'; readonly repository: RepositoryName }
  | { readonly page: 'pull'; readonly repository: RepositoryName; readonly pull: number }
  | { readonly page: 'catalog'; readonly repository: RepositoryName; readonly catalog: string }
  | {
      readonly page: 'package'
      readonly repository: RepositoryName
      readonly catalog: string
      readonly package: string
    }

export interface ParsedPageUrl {
  readonly pageRequest: StatusPageRequest
  /** From the address; undefined if the browser's preference decides. */
  readonly form?: StatusPageFormat
}

/** Returns whether a path is spelled as in links, which bounds the number of distinct paths per page. */
export const isCanonicalUrlPath = (path: string): boolean =>
  path.split('/').every((segment) => segment === encodePathSegment(decodePathSegment(segment) ?? ''))

/**
 * Parses a request target on a meaningless host. Returns undefined if it is not a path: a scheme or two slashes would
 * name a host, and a backslash would count as a slash.
 */
export function parseRequestTarget(target = ''): URL | undefined {
  const base = 'http://localhost'
  return /^\/(?!\/)[^\\?]*(?:\?|$)/.test(target) && URL.canParse(target, base)
    ? new URL(target, base)
    : undefined
}

const repositoryNamePattern = /^(?!\.{1,2}$)[\w.-]{1,100}$/

/** Returns undefined if the path is not one of catalog-bot's pages. */
export function parsePageUrl(path: string): ParsedPageUrl | undefined {
  if (path.length > 2000 || !path.startsWith('/') || path.includes('//')) return undefined
  const ending = /\.(?<form>json|atom)$/.exec(path)?.groups?.['form'] as 'json' | 'atom' | undefined
  // A repository may be called `x.json`, so the whole path is tried before the ending.
  const whole = parsePagePath(path)
  if (whole !== undefined && !(ending !== undefined && supportsFormatExtension(whole)))
    return { pageRequest: whole, ...getNonHtmlPageFormat(whole) }
  const shorter = ending === undefined ? undefined : parsePagePath(path.slice(0, -ending.length - 1))
  if (shorter === undefined || ending === undefined) return undefined
  const isFeed = shorter.page === 'merged' || shorter.page === 'repository-merged'
  if (ending === 'atom' && !isFeed) return undefined
  if (
    ['sign-in', 'signed-in', 'sign-out', 'resume', 'events', 'badge', 'style', 'script'].includes(
      shorter.page,
    )
  )
    return undefined
  return { pageRequest: shorter, form: ending }
}

/** Only on pages whose last part is an external name does `.json` ask for JSON. */
function supportsFormatExtension({ page }: StatusPageRequest): boolean {
  return ['repository', 'catalog', 'package', 'rule'].includes(page)
}

function getNonHtmlPageFormat({ page }: StatusPageRequest): { form?: StatusPageFormat } {
  if (page === 'badge') return { form: 'svg' }
  if (page === 'script') return { form: 'js' }
  return page === 'style' ? { form: 'css' } : {}
}

const generalPageByPath = {
  '/': 'home',
  '/home': 'home',
  '/overview': 'overview',
  '/merged': 'merged',
  '/rules': 'rules',
  '/sign-in': 'sign-in',
  '/sign-in/back': 'signed-in',
  '/sign-out': 'sign-out',
  '/pages.css': 'style',
  '/pages.js': 'script',
} as const

const repositoryPageBySection = {
  overview: 'repository-overview',
  merged: 'repository-merged',
  compare: 'compare',
  operations: 'operations',
  resume: 'resume',
  events: 'events',
  catalog: 'catalogs',
} as const

const isKeyOf = <Table extends object>(key: PropertyKey, table: Table): key is keyof Table =>
  Object.hasOwn(table, key)

function parsePagePath(path: string): StatusPageRequest | undefined {
  if (isKeyOf(path, generalPageByPath)) return { page: generalPageByPath[path] }
  const segments = path.slice(1).split('/').map(decodePathSegment)
  if (segments.includes(undefined)) return undefined
  const [first, second = '', third = '', ...rest] = segments as string[]
  // Findings link to `<RULES_URL>/<rule>.md`, wherever that is.
  if (first === 'rules' && segments.length === 2 && /^[a-z\d.-]{1,100}$/.test(second))
    return { page: 'rule', id: second.replace(/\.md$/, '') }
  const isBadge = first === 'badge' && segments.length === 3 && third.endsWith('.svg')
  const repository = toRepositoryName(second, isBadge ? third.replace(/\.svg$/, '') : third)
  if (repository === undefined) return undefined
  if (isBadge) return { page: 'badge', repository }
  return first === 'r' ? parseRepositoryPage(repository, rest) : undefined
}

function parseRepositoryPage(
  repository: RepositoryName,
  [section, first, second, ...more]: readonly string[],
): StatusPageRequest | undefined {
  if (section === undefined) return { page: 'repository', repository }
  if (first === undefined)
    return isKeyOf(section, repositoryPageBySection)
      ? { page: repositoryPageBySection[section], repository }
      : undefined
  if (section === 'pull' && second === undefined && /^[1-9]\d{0,9}$/.test(first))
    return { page: 'pull', repository, pull: Number(first) }
  if (section !== 'catalog' || first === '' || more.length > 0) return undefined
  return second === undefined
    ? { page: 'catalog', repository, catalog: first }
    : { page: 'package', repository, catalog: first, package: second }
}

function toRepositoryName(owner: string, name: string): RepositoryName | undefined {
  return repositoryNamePattern.test(owner) && repositoryNamePattern.test(name) ? { owner, name } : undefined
}

/** Returns undefined for control characters too: no name has any, and Postgres rejects NUL. */
function decodePathSegment(segment: string): string | undefined {
  try {
    const text = decodeURIComponent(segment)
    return /\p{Cc}/u.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

/** Formats GitHub URLs. Encodes untrusted parts. */
export function formatPullUrl(page: PullUrlParts, pull: PullNumber = page.pull): string {
  return `${formatRepositoryUrl(page)}/pull/${pull}`
}

export const formatChecksUrl = (page: PullUrlParts): string => `${formatPullUrl(page)}/checks`

export function formatCommitUrl(page: PullUrlParts, commit: CommitSha | string): string {
  return `${formatRepositoryUrl(page)}/commit/${encodePathSegment(commit)}`
}

export function formatLineRangeUrl(
  page: PullUrlParts,
  commit: CommitSha,
  path: string,
  { first, last }: { readonly first: number; readonly last: number },
): string {
  const file = path.split('/').map(encodePathSegment).join('/')
  // GitHub renders these files without line numbers unless the URL requests the source.
  const plain = /\.(?:md|markdown|rst|adoc|svg|csv|tsv)$/i.test(path) ? '?plain=1' : ''
  return `${formatRepositoryUrl(page)}/blob/${encodePathSegment(commit)}/${file}${plain}#L${first}${last > first ? `-L${last}` : ''}`
}

function formatRepositoryUrl({ web, repository }: PullUrlParts): string {
  return `${web}/${encodePathSegment(repository.owner)}/${encodePathSegment(repository.name)}`
}
