// Builds and reads the addresses of all pages.
import type { RepositoryName } from '../../change/snapshot.ts'

const part = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )

export const homeAddress = '/'

export const repositoryAddress = ({ owner, name }: RepositoryName): string =>
  `/r/${part(owner)}/${part(name)}`

export const pullAddress = (repository: RepositoryName, pull: number): string =>
  `${repositoryAddress(repository)}/pull/${pull}`

export const overviewAddress = (repository: RepositoryName): string =>
  `${repositoryAddress(repository)}/overview`

export const mergedAddress = (repository?: RepositoryName): string =>
  `${repository === undefined ? '' : repositoryAddress(repository)}/merged`

export const catalogsAddress = (repository: RepositoryName): string =>
  `${repositoryAddress(repository)}/catalog`

export const catalogAddress = (repository: RepositoryName, catalog: string, packageName?: string): string =>
  `${catalogsAddress(repository)}/${part(catalog)}${packageName === undefined ? '' : `/${part(packageName)}`}`

export const ruleAddress = (id?: string): string => (id === undefined ? '/rules' : `/rules/${part(id)}`)

export const badgeAddress = ({ owner, name }: RepositoryName): string =>
  `/badge/${part(owner)}/${part(name)}.svg`

export const signInAddress = (to: string): string => `/sign-in?to=${part(to)}`

export type Form = 'html' | 'json' | 'atom' | 'svg' | 'css'

export type Asked =
  | { readonly page: 'home' | 'overview' | 'merged' | 'rules' | 'style' }
  | { readonly page: 'sign-in' | 'signed-in' }
  | { readonly page: 'sign-out' }
  | { readonly page: 'rule'; readonly id: string }
  | {
      readonly page: 'repository' | 'repository-overview' | 'repository-merged' | 'catalogs' | 'badge'
      readonly repository: RepositoryName
    }
  | { readonly page: 'resume'; readonly repository: RepositoryName }
  | { readonly page: 'pull'; readonly repository: RepositoryName; readonly pull: number }
  | { readonly page: 'catalog'; readonly repository: RepositoryName; readonly catalog: string }
  | {
      readonly page: 'package'
      readonly repository: RepositoryName
      readonly catalog: string
      readonly package: string
    }

export interface Address {
  readonly asked: Asked
  /** From the address; undefined if the browser's preference decides. */
  readonly form?: Form
}

/** Returns whether a path is spelled as in links, which bounds the number of distinct paths per page. */
export const isCanonical = (path: string): boolean =>
  path.split('/').every((segment) => segment === part(decoded(segment) ?? ''))

/**
 * Parses a request target on a meaningless host. Returns undefined if it is not a path: a scheme or two slashes would
 * name a host, and a backslash would count as a slash.
 */
export function readTarget(target = ''): URL | undefined {
  const base = 'http://localhost'
  return /^\/(?!\/)[^\\?]*(?:\?|$)/.test(target) && URL.canParse(target, base)
    ? new URL(target, base)
    : undefined
}

const named = /^(?!\.{1,2}$)[\w.-]{1,100}$/

/** Returns undefined if the path is not one of our pages. */
export function readAddress(path: string): Address | undefined {
  if (path.length > 2000 || !path.startsWith('/') || path.includes('//')) return undefined
  const ending = /\.(?<form>json|atom)$/.exec(path)?.groups?.['form'] as 'json' | 'atom' | undefined
  // A repository may be called `x.json`, so the whole path is tried before the ending.
  const whole = readSegments(path)
  if (whole !== undefined && !(ending !== undefined && hasEnding(whole)))
    return { asked: whole, ...fixedForm(whole) }
  const shorter = ending === undefined ? undefined : readSegments(path.slice(0, -ending.length - 1))
  if (shorter === undefined || ending === undefined) return undefined
  const isFeed = shorter.page === 'merged' || shorter.page === 'repository-merged'
  if (ending === 'atom' && !isFeed) return undefined
  if (['sign-in', 'signed-in', 'sign-out', 'resume', 'badge', 'style'].includes(shorter.page))
    return undefined
  return { asked: shorter, form: ending }
}

/** Only on pages whose last part is an external name does `.json` ask for JSON. */
function hasEnding({ page }: Asked): boolean {
  return ['repository', 'catalog', 'package', 'rule'].includes(page)
}

function fixedForm({ page }: Asked): { form?: Form } {
  if (page === 'badge') return { form: 'svg' }
  return page === 'style' ? { form: 'css' } : {}
}

function readSegments(path: string): Asked | undefined {
  const segments = path.slice(1).split('/').map(decoded)
  if (segments.includes(undefined)) return undefined
  const [first = '', ...rest] = segments as string[]
  switch (first) {
    case '':
    case 'home':
      return rest.length === 0 ? { page: 'home' } : undefined
    case 'overview':
    case 'merged':
    case 'sign-in':
    case 'sign-out':
      if (first === 'sign-in' && rest.length === 1 && rest[0] === 'back') return { page: 'signed-in' }
      return rest.length === 0 ? { page: first } : undefined
    case 'pages.css':
      return rest.length === 0 ? { page: 'style' } : undefined
    case 'rules':
      if (rest.length === 0) return { page: 'rules' }
      // Findings link to `<RULES_URL>/<rule>.md`, wherever that is.
      return rest.length === 1 && /^[a-z\d.-]{1,100}$/.test(rest[0] ?? '')
        ? { page: 'rule', id: (rest[0] ?? '').replace(/\.md$/, '') }
        : undefined
    case 'badge': {
      const [owner = '', file = ''] = rest
      const repository = repositoryOf(owner, file.replace(/\.svg$/, ''))
      return rest.length === 2 && file.endsWith('.svg') && repository
        ? { page: 'badge', repository }
        : undefined
    }
    case 'r': {
      const [owner = '', name = '', ...more] = rest
      const repository = repositoryOf(owner, name)
      return repository && readBelow(repository, more)
    }
    default:
      return undefined
  }
}

function readBelow(repository: RepositoryName, [what, ...more]: readonly string[]): Asked | undefined {
  const [first, second] = more
  switch (what) {
    case undefined:
      return { page: 'repository', repository }
    case 'overview':
      return more.length === 0 ? { page: 'repository-overview', repository } : undefined
    case 'merged':
      return more.length === 0 ? { page: 'repository-merged', repository } : undefined
    case 'resume':
      return more.length === 0 ? { page: 'resume', repository } : undefined
    case 'pull':
      return more.length === 1 && /^[1-9]\d{0,9}$/.test(first ?? '')
        ? { page: 'pull', repository, pull: Number(first) }
        : undefined
    case 'catalog':
      if (first === undefined) return { page: 'catalogs', repository }
      if (first === '' || more.length > 2) return undefined
      return second === undefined
        ? { page: 'catalog', repository, catalog: first }
        : { page: 'package', repository, catalog: first, package: second }
    default:
      return undefined
  }
}

function repositoryOf(owner: string, name: string): RepositoryName | undefined {
  return named.test(owner) && named.test(name) ? { owner, name } : undefined
}

/** Returns undefined for control characters too: no name has any, and Postgres rejects NUL. */
function decoded(segment: string): string | undefined {
  try {
    const text = decodeURIComponent(segment)
    return /\p{Cc}/u.test(text) ? undefined : text
  } catch {
    return undefined
  }
}
