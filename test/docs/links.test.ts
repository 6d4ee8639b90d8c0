// Every link of the docs leads somewhere: to a file of the project and, where it names a part of a page, to that part.
import { expect, test } from '@jest/globals'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'

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

/** As GitHub names the parts of a page, and VitePress nearly so. */
const toHeadingSlug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

const anchorsByPage = new Map<string, ReadonlySet<string>>()
function findAnchors(page: string): ReadonlySet<string> {
  const known = anchorsByPage.get(page)
  if (known !== undefined) return known
  const headings = parseMarkdownPage(page).filter(
    (token): token is Tokens.Heading => token.type === 'heading',
  )
  const found = new Set(headings.map(({ text }) => toHeadingSlug(text.replace(/`|\*/g, ''))))
  anchorsByPage.set(page, found)
  return found
}

function findBrokenLinks(page: string): readonly string[] {
  const wrong: string[] = []
  void markdownParser.walkTokens(parseMarkdownPage(page), (token: Token) => {
    if (token.type !== 'link' && token.type !== 'image') return
    const { href } = token as Tokens.Link
    // GitHub's own page of the repository, relative to its files.
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

test('the site names each page that is there', () => {
  const config = readFileSync(join(projectRoot, 'site/.vitepress/config.mts'), 'utf8')
  const linked = [...config.matchAll(/link: '\/(?<page>[\w-]+)'/g)].map(
    (match) => match.groups?.['page'] ?? '',
  )
  expect(linked.filter((page) => !existsSync(join(projectRoot, 'docs', `${page}.md`)))).toEqual([])
  const missing = documentationPages
    .map((page) => /^docs\/(?<name>[\w-]+)\.md$/.exec(page)?.groups?.['name'])
    .filter((name) => name !== undefined && !linked.includes(name))
  expect(missing).toEqual(['attacks', 'index'])
})
