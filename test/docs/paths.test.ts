// The pages for developers name only files and symbols that exist: each code span that looks like one is looked up.
import { describe, expect, test } from '@jest/globals'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Marked, type Tokens } from 'marked'

const projectRoot = join(import.meta.dirname, '../..')
const developerPages = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...globSync('docs/dev/**/*.md', { cwd: projectRoot }).toSorted(),
]

/** Folders that paths on a page can be relative to, in addition to the root. The page names them. */
const pathRootsByPage: Readonly<Record<string, readonly string[]>> = {
  'ARCHITECTURE.md': ['src', 'src/checks', 'src/adapters', 'packages/fbc/src'],
  // The page links to the file.
  'docs/dev/releasing.md': ['.github/workflows'],
}

/** Code spans that look like a path or symbol of the project and are none, by what they are. */
const foreignNames: Readonly<Record<string, readonly string[]>> = {
  'parts of an example of a rule': ['base/', 'result/', 'before/', '_case.json'],
  'files of a catalog repository': [
    '.github/catalog-bot.yml',
    'docs/CODEOWNERS',
    'ci.yaml',
    'release-config.yaml',
  ],
  'output of a release': [
    'dist-release/',
    'distribution.json',
    'npm/*.tgz',
    'image/',
    'chart/*.tgz',
    'files/*',
  ],
  'names of others': [
    'archive/tar',
    'encoding/json',
    'org/*',
    'quay.io/org/catalog',
    'quay.io/org/catalog-evil',
  ],
}
const foreignNameSet = new Set(Object.values(foreignNames).flat())

const pathPattern = /^[\w.@*<>-]+(?:\/[\w.@*<>-]+)*\/?$/
const isPath = (text: string) =>
  pathPattern.test(text) && (text.includes('/') || /\w\.(?:[cm]?[jt]s|md|json|ya?ml)$/.test(text))
const symbolPattern = /^(?<name>[a-z]+[A-Z]\w*|[A-Z]\w*[a-z]\w*[A-Z]\w*|[A-Z]+(?:_[A-Z]+)+)(?:\(.*\))?$/

function listCodeSpans(page: string): ReadonlySet<string> {
  const markdown = new Marked()
  const spans = new Set<string>()
  void markdown.walkTokens(markdown.lexer(readFileSync(join(projectRoot, page), 'utf8')), (token) => {
    if (token.type === 'codespan') spans.add((token as Tokens.Codespan).text)
  })
  return spans
}

/** A placeholder such as `<id>` stands for any name. */
function isExistingPath(path: string, roots: readonly string[]): boolean {
  const pattern = path.replace(/<[\w-]+>/g, '*')
  return ['', ...roots].some((root) =>
    pattern.includes('*')
      ? globSync(join(root, pattern), { cwd: projectRoot }).length > 0
      : existsSync(join(projectRoot, root, path)),
  )
}

const sourceText = ['src', 'packages', 'sandbox', 'simulate', 'scripts', 'bench', 'test']
  .flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.[cm]?[jt]s$/.test(path) && !/(?:^|\/)(?:node_modules|dist|docs)\//.test(path))
      .map((path) => readFileSync(join(projectRoot, folder, path), 'utf8')),
  )
  .join('\n')
const sourceWords = new Set(sourceText.match(/\w+/g))

const spansByPage = new Map(developerPages.map((page) => [page, listCodeSpans(page)]))
const pathsByPage = [...spansByPage].map(
  ([page, spans]) => [page, [...spans].filter((span) => isPath(span) && !foreignNameSet.has(span))] as const,
)
const symbolsByPage = [...spansByPage].map(
  ([page, spans]) =>
    [
      page,
      [...spans].flatMap((span) =>
        foreignNameSet.has(span) ? [] : (symbolPattern.exec(span)?.groups?.['name'] ?? []),
      ),
    ] as const,
)

describe('the pages for developers', () => {
  test.each(pathsByPage)('%s names only paths that exist', (page, paths) => {
    expect(paths.filter((path) => !isExistingPath(path, pathRootsByPage[page] ?? []))).toEqual([])
  })

  test.each(symbolsByPage)('%s names only symbols that the sources contain', (_, symbols) => {
    expect(symbols.filter((name) => !sourceWords.has(name))).toEqual([])
  })

  test('name many of both', () => {
    expect(pathsByPage.flatMap(([, paths]) => paths).length).toBeGreaterThan(150)
    expect(symbolsByPage.flatMap(([, symbols]) => symbols).length).toBeGreaterThan(20)
  })

  test('contain each exception', () => {
    const spans = new Set([...spansByPage.values()].flatMap((those) => [...those]))
    expect([...foreignNameSet].filter((name) => !spans.has(name))).toEqual([])
  })
})
