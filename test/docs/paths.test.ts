// The pages for developers name only files and symbols that exist: each code span that looks like one is looked up.
import { expect, test } from '@jest/globals'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const projectRoot = join(import.meta.dirname, '../..')
const readProjectFile = (path: string) => readFileSync(join(projectRoot, path), 'utf8')
const developerPages = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...globSync('docs/dev/**/*.md', { cwd: projectRoot }),
]

/** Folders that paths on a page can be relative to, in addition to the root. The page names them. */
const baseFoldersByPage: Readonly<Record<string, readonly string[]>> = {
  'ARCHITECTURE.md': ['src', 'src/checks', 'src/adapters', 'packages/fbc/src'],
  'docs/dev/releasing.md': ['.github/workflows'],
}

/** Code spans that look like a path of the project but are something else, by kind. */
const nonProjectPathsByReason: Readonly<Record<string, string>> = {
  'parts of an example of a rule': 'base/ result/ before/ _case.json',
  'files of a catalog repository': '.github/catalog-bot.yml docs/CODEOWNERS ci.yaml release-config.yaml',
  'output of a release': 'dist-release/ distribution.json npm/*.tgz image/ chart/*.tgz files/*',
  'npm packages':
    '@octokit/plugin-throttling @electric-sql/pglite-socket @grpc/reflection @bomb.sh/tab @noble/ciphers @octokit/oauth-app @hono/oauth-providers',
  'names of others': 'archive/tar encoding/json org/* quay.io/org/catalog quay.io/org/catalog-evil',
}
const nonProjectPaths = new Set(Object.values(nonProjectPathsByReason).flatMap((paths) => paths.split(' ')))

const pathPattern = /^(?=.*\/|.*\w\.(?:[cm]?[jt]s|md|json|ya?ml)$)[\w.@*<>-]+(?:\/[\w.@*<>-]+)*\/?$/
const symbolPattern = /^(?<name>[a-z]+[A-Z]\w*|[A-Z]\w*[a-z]\w*[A-Z]\w*|[A-Z]+(?:_[A-Z]+)+)(?:\(.*\))?$/

const codeSpansByPage = developerPages.map((page) => {
  const text = readProjectFile(page).replace(/^```[^]*?^```/gm, '')
  return { page, spans: [...text.matchAll(/`(?<span>[^`]+)`/g)].map(({ groups }) => groups?.span ?? '') }
})
const documentedPaths = codeSpansByPage.flatMap(({ page, spans }) =>
  spans.filter((span) => pathPattern.test(span)).map((path) => ({ page, path })),
)

test('the pages for developers name only paths that exist', () => {
  const missing = documentedPaths.filter(({ page, path }) => {
    // A placeholder such as `<id>` matches any name.
    const pattern = path.replace(/<[\w-]+>/g, '*')
    const isFound = ['', ...(baseFoldersByPage[page] ?? [])].some((root) =>
      pattern.includes('*')
        ? globSync(join(root, pattern), { cwd: projectRoot }).length > 0
        : existsSync(join(projectRoot, root, path)),
    )
    return !isFound && !nonProjectPaths.has(path)
  })
  expect(missing).toEqual([])
  expect(documentedPaths.length).toBeGreaterThan(150)
  expect(
    [...nonProjectPaths].filter((foreign) => !documentedPaths.some(({ path }) => path === foreign)),
  ).toEqual([])
})

const sources = globSync('{src,packages,sandbox,simulate,scripts,bench,test}/**/*.{ts,mts,mjs,cjs}', {
  cwd: projectRoot,
  exclude: ['**/node_modules/**', '**/dist/**', 'test/docs/**'],
})

test('comments name only source files that exist', () => {
  const otherFiles = globSync('{test/docs,bin,.ci,site}/*', { cwd: projectRoot })
  const fileNames = new Set([...sources, ...otherFiles].map((path) => basename(path)))
  const named = sources.flatMap((path) =>
    [...readProjectFile(path).matchAll(/^\s*(?:\/\/|\/?\*).*/gm)].flatMap(([comment]) =>
      [...comment.matchAll(/(?<![\w*.-])\w[\w.-]+(?<!\.d)\.(?:[cm]?ts|[cm]js)\b/g)].map(([name]) => ({
        path,
        name,
      })),
    ),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ name }) => !fileNames.has(name))).toEqual([])
})

test('the pages for developers name only symbols that the sources contain', () => {
  const words = new Set(sources.flatMap((path) => readProjectFile(path).match(/\w+/g) ?? []))
  const symbols = codeSpansByPage.flatMap(({ page, spans }) =>
    spans.flatMap((span) => {
      const name = symbolPattern.exec(span)?.groups?.name
      return name === undefined ? [] : [{ page, name }]
    }),
  )
  expect(symbols.length).toBeGreaterThan(20)
  expect(symbols.filter(({ name }) => !words.has(name))).toEqual([])
})
