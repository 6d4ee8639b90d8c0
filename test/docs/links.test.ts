// Every link of the docs leads somewhere: to a file of the project and, where it names a part of a page, to that part.
import { expect, test } from '@jest/globals'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'

const root = join(import.meta.dirname, '../..')
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]
const marked = new Marked()
const tokensOf = (page: string) => marked.lexer(readFileSync(join(root, page), 'utf8'))

/** As GitHub names the parts of a page, and VitePress nearly so. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

const parts = new Map<string, ReadonlySet<string>>()
function partsOf(page: string): ReadonlySet<string> {
  const known = parts.get(page)
  if (known !== undefined) return known
  const headings = tokensOf(page).filter((token): token is Tokens.Heading => token.type === 'heading')
  const found = new Set(headings.map(({ text }) => slugOf(text.replace(/`|\*/g, ''))))
  parts.set(page, found)
  return found
}

function wrongLinks(page: string): readonly string[] {
  const wrong: string[] = []
  void marked.walkTokens(tokensOf(page), (token: Token) => {
    if (token.type !== 'link' && token.type !== 'image') return
    const { href } = token as Tokens.Link
    if (/^[a-z]+:/i.test(href)) return
    const [path = '', part] = href.split('#')
    const target =
      path === '' ? join(root, page) : resolve(dirname(join(root, page)), decodeURIComponent(path))
    const isThere = existsSync(target) && target.startsWith(root)
    const isPartThere =
      part === undefined || !target.endsWith('.md') || partsOf(target.slice(root.length + 1)).has(part)
    if (!isThere || !isPartThere) wrong.push(`${page}: ${href}`)
  })
  return wrong
}

test('no link of the docs is dead', () => {
  expect(pages.length).toBeGreaterThan(200)
  expect(pages.flatMap(wrongLinks)).toEqual([])
})

test('the site names each page that is there', () => {
  const config = readFileSync(join(root, 'site/.vitepress/config.mts'), 'utf8')
  const linked = [...config.matchAll(/link: '\/(?<page>[\w-]+)'/g)].map(
    (match) => match.groups?.['page'] ?? '',
  )
  expect(linked.filter((page) => !existsSync(join(root, 'docs', `${page}.md`)))).toEqual([])
  const missing = pages
    .map((page) => /^docs\/(?<name>[\w-]+)\.md$/.exec(page)?.groups?.['name'])
    .filter((name) => name !== undefined && !linked.includes(name))
  expect(missing).toEqual(['attacks', 'index'])
})
