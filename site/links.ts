// The links and anchors of the built site. VitePress itself finds only links to missing pages.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The anchor of a heading, as GitHub creates it, so that a link works in both places. */
export const slugifyHeading = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

const attributePattern = /<a\b[^>]*?\shref="(?<href>[^"]*)"|\s(?:id|name)="(?<id>[^"]+)"/g

/** Links in the built pages below `folder` that lead to a missing file or a missing anchor, as `page: href`. */
export function findBrokenSiteLinks(folder: string, base = '/'): readonly string[] {
  const pages = new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.html'))
      .map((name) => [name, readHtmlPage(join(folder, name))] as const),
  )
  const isBroken = (page: string, href: string): boolean => {
    if (/^(?:[a-z]+:|\/\/)/i.test(href)) return false
    const { pathname, hash } = new URL(href, `http://site${base}${page}`)
    if (!pathname.startsWith(base)) return true
    const path = decodeURIComponent(pathname.slice(base.length))
    const target = path === '' && href.startsWith('#') ? page : findTargetFile(folder, path)
    const anchor = decodeURIComponent(hash.slice(1))
    return target === undefined || (anchor !== '' && pages.get(target)?.ids.has(anchor) === false)
  }
  return [...pages].flatMap(([page, { hrefs }]) =>
    [...hrefs].filter((href) => isBroken(page, href)).map((href) => `${page}: ${href}`),
  )
}

/** A page's address has no `.html`. */
function findTargetFile(folder: string, path: string): string | undefined {
  return [path, `${path}.html`, join(path, 'index.html')].find(
    (name) => name !== '' && /\.\w+$/.test(name) && existsSync(join(folder, name)),
  )
}

interface HtmlPage {
  readonly ids: ReadonlySet<string>
  readonly hrefs: ReadonlySet<string>
}

function readHtmlPage(file: string): HtmlPage {
  const ids = new Set<string>()
  const hrefs = new Set<string>()
  for (const { groups } of readFileSync(file, 'utf8').matchAll(attributePattern)) {
    if (groups?.['id'] !== undefined) ids.add(groups['id'])
    if (groups?.['href'] !== undefined) hrefs.add(groups['href'].replaceAll('&amp;', '&'))
  }
  return { ids, hrefs }
}

export interface SiteSection {
  readonly title: string
  readonly folder: string
  /** The pages in the order of the navigation. Pages that are not listed follow, by name. */
  readonly pages: readonly string[]
}

/** The users' sections, in the order of the navigation. The rules have an index instead. */
export const siteSections: readonly SiteSection[] = [
  { title: 'Tutorials', folder: 'tutorials', pages: ['first-change', 'test-repository'] },
  {
    title: 'How-to guides',
    folder: 'how-to',
    pages: [
      ...['kubernetes', 'compose', 'actions', 'branch-rules', 'owners', 'automation-accounts', 'publish'],
      ...['bundle-directories', 'release-bundles', 'cluster-tests', 'networks', 'back-up-and-upgrade'],
      ...['monitor-and-troubleshoot', 'status-pages'],
    ],
  },
  {
    title: 'Reference',
    folder: 'reference',
    pages: [
      ...['command-line', 'configuration', 'environment', 'comment-commands', 'permissions', 'helm-values'],
      ...['endpoints', 'metrics', 'node-api', 'packages', 'glossary'],
    ],
  },
  {
    title: 'Explanation',
    folder: 'explanation',
    pages: ['merging', 'ownership', 'security', 'installs', 'api-limits', 'comparison'],
  },
]

export const developerSection: SiteSection = {
  title: 'For developers',
  folder: 'dev',
  pages: ['test-strategy', 'threats', 'simulator', 'performance', 'releasing'],
}

/** The pages of a section with their headings. `link` is the address of a page without `.md`. */
export function listSitePages(
  docs: string,
  { folder, pages }: SiteSection,
): readonly { readonly text: string; readonly link: string }[] {
  const names = readdirSync(join(docs, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length))
  const position = (name: string) => (pages.includes(name) ? pages.indexOf(name) : pages.length)
  const depth = (name: string) => (dirname(name) === '.' ? 0 : 1)
  return names
    .sort((a, b) => position(a) - position(b) || depth(a) - depth(b) || (a < b ? -1 : 1))
    .map((name) => {
      const heading = /^# (?<text>.+)$/m.exec(readFileSync(join(docs, folder, `${name}.md`), 'utf8'))
      return { text: (heading?.groups?.['text'] ?? name).replaceAll('`', ''), link: `/${folder}/${name}` }
    })
}
