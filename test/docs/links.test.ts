// Every link in the docs leads to an existing file of the project and, with an anchor, to an existing heading.
import { expect, test } from '@jest/globals'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'
import {
  developerSection,
  findBrokenSiteLinks,
  listSitePages,
  siteSections,
  slugifyHeading,
} from '../../site/links.ts'
import { writeFiles } from '../write-files.ts'

const projectRoot = join(import.meta.dirname, '../..')
const documentationPages = [
  'README.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'CODE_OF_CONDUCT.md',
  'MAINTAINERS.md',
  'SECURITY.md',
  'SUPPORT.md',
  ...readdirSync(join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]
const markdownParser = new Marked()
const parseMarkdownPage = (page: string) =>
  markdownParser.lexer(readFileSync(join(projectRoot, page), 'utf8'))

const anchorsByPage = new Map<string, ReadonlySet<string>>()
function findAnchors(page: string): ReadonlySet<string> {
  const known = anchorsByPage.get(page)
  if (known !== undefined) return known
  const headings = parseMarkdownPage(page).filter(
    (token): token is Tokens.Heading => token.type === 'heading',
  )
  const elements = readFileSync(join(projectRoot, page), 'utf8').matchAll(/<a id="(?<id>[\w-]+)"><\/a>/g)
  const found = new Set([
    ...headings.map(({ text }) => slugifyHeading(text.replace(/`|\*/g, ''))),
    ...[...elements].map(({ groups }) => groups?.['id'] ?? ''),
  ])
  anchorsByPage.set(page, found)
  return found
}

function findBrokenLinks(page: string): readonly string[] {
  const wrong: string[] = []
  void markdownParser.walkTokens(parseMarkdownPage(page), (token: Token) => {
    if (token.type !== 'link' && token.type !== 'image') return
    const { href } = token as Tokens.Link
    // A page of the repository on GitHub, relative to its files.
    if (/^[a-z]+:/i.test(href) || href === '../../security/advisories/new') return
    const [path = '', part] = href.split('#')
    const target =
      path === ''
        ? join(projectRoot, page)
        : resolve(dirname(join(projectRoot, page)), decodeURIComponent(path))
    const isThere = existsSync(target) && target.startsWith(projectRoot)
    const isPartThere =
      part === undefined ||
      !target.endsWith('.md') ||
      findAnchors(target.slice(projectRoot.length + 1)).has(part)
    if (!isThere || !isPartThere) wrong.push(`${page}: ${href}`)
  })
  return wrong
}

test('no link of the docs is dead', () => {
  expect(documentationPages.length).toBeGreaterThan(200)
  expect(documentationPages.flatMap(findBrokenLinks)).toEqual([])
})

test("the navigation of the site has every page: the users' in their order, and the developers' apart", () => {
  const listed = [...siteSections, developerSection].flatMap((section) =>
    listSitePages(join(projectRoot, 'docs'), section).map(({ link }) => `docs${link}.md`),
  )
  const pages = documentationPages.filter((page) => /^docs\/(?!rules\/)/.test(page))
  expect(listed.toSorted()).toEqual(pages.filter((page) => page !== 'docs/index.md').toSorted())
  expect(listed[0]).toBe('docs/tutorials/first-change.md')
  expect(listed.at(-1)).toMatch(/^docs\/dev\//)
})

test('the site is not built with a link to a missing page, file, or anchor', () => {
  const folder = mkdtempSync(join(tmpdir(), 'site-'))
  try {
    const writePage = (name: string, links: readonly string[]) => {
      const anchors = links.map((href) => `<a class="x" href="${href}">x</a>`).join('')
      writeFiles(folder, { [name]: `<h2 id="fix">Fix</h2>${anchors}` })
    }
    writePage('index.html', ['/base/rules/', '/base/rules/two#fix', './rules/two#gone', 'https://x.test/#y'])
    writePage('rules/index.html', ['two', '../missing', '#fix', '#gone', '/elsewhere'])
    writePage('rules/two.html', ['/base/#fix', '/base/schema.json', '?a=1&amp;b=2#gone'])
    expect(findBrokenSiteLinks(folder, '/base/').toSorted()).toEqual([
      'index.html: ./rules/two#gone',
      'rules/index.html: #gone',
      'rules/index.html: ../missing',
      'rules/index.html: /elsewhere',
      'rules/two.html: /base/schema.json',
      'rules/two.html: ?a=1&b=2#gone',
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
