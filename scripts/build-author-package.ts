// Builds the package for authors, @catalog-bot/cli: the same commands from the same sources without what serves, and without
// dependencies, for it holds what it needs of them. Ready for `npm pack`.
// usage: node scripts/build-author-package.ts [DIRECTORY]   (default: dist-author)
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { build } from 'esbuild'
import { rollUpTypes } from './api-report.ts'
import { authorPackage, authorReadme } from './build/author-package.ts'
import { joinCommand, ownPackages } from './build/join-command.ts'
import { leaveOutOfAuthors } from './build/leave-out-of-authors.ts'
import { licencesOf } from './build/licences.ts'
import { transpileSources } from './build/transpile-sources.ts'

const root = join(import.meta.dirname, '..')
const [named = 'dist-author', ...others] = process.argv.slice(2)
if (named.startsWith('-') || others.length > 0) {
  console.error('usage: node scripts/build-author-package.ts [DIRECTORY]   (default: dist-author)')
  process.exit(2)
}
const folder = resolve(root, named)

/** People download it for one command. */
const mostInstalled = 5_000_000
const block = 4096

/** Processes of their own, which the file beside them starts by its name. */
const processes = [
  'examine/catalogs/read-file-process.js',
  'image/layer/layer-process.js',
  'registry/unpack/unpack-process.js',
]

rmSync(folder, { recursive: true, force: true })
const commands = join(folder, 'dist', 'cli')
mkdirSync(commands, { recursive: true })
const sources = realpathSync(mkdtempSync(join(tmpdir(), 'author-')))
try {
  transpileSources(sources)
  const { later, inputs } = await joinCommand({
    sources,
    entry: 'cli-author.js',
    script: join(folder, 'dist', 'cli.joined.js'),
    nameOf: (path) => `cli/${flat(path)}`,
    leaveOut: leaveOutOfAuthors(sources),
  })
  // All in one folder, as deep as the commands are in the sources: a file that is split off may ask where it lies.
  const entries = [...later, ...processes, 'index.js']
  const { metafile } = await build({
    entryPoints: entries.map((path) => ({
      in: join(sources, path),
      out: flat(path).replace(/\.js$/, ''),
    })),
    outdir: commands,
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    platform: 'node',
    target: 'node22',
    // Short names, too: they are a third of it, and people download it for one command.
    minify: true,
    legalComments: 'none',
    metafile: true,
    plugins: [leaveOutOfAuthors(sources), ownPackages(sources)],
    logLevel: 'warning',
  })
  const all = [...inputs, ...Object.keys(metafile.inputs).map((input) => resolve(input))]
  writeFileSync(join(folder, 'THIRD-PARTY.txt'), licencesOf(all))
} finally {
  rmSync(sources, { recursive: true, force: true })
}
rollUpTypes(join(folder, 'dist', 'index.d.ts'), { isCheck: true })

const app = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Parameters<
  typeof authorPackage
>[0]
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(authorPackage(app), undefined, 2)}\n`)
writeFileSync(join(folder, 'README.md'), authorReadme)
cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
// One file for all pages: they are many and small, and a disk gives each its block.
const pages = join(root, 'docs', 'rules')
writeFileSync(
  join(folder, 'dist', 'rule-pages.json'),
  JSON.stringify(
    Object.fromEntries(
      readdirSync(pages)
        .filter((name) => name.endsWith('.md') && name !== 'README.md')
        .sort()
        .map((name) => [basename(name, '.md'), readFileSync(join(pages, name), 'utf8')]),
    ),
  ),
)

const size = installedSize(folder)
if (size > mostInstalled)
  throw new Error(`the package takes ${size} bytes installed: more than the ${mostInstalled} that it may`)

/** As a disk counts it: whole blocks. */
function installedSize(place: string): number {
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(place, name)).size)
    .reduce((sum, bytes) => sum + Math.ceil(bytes / block) * block, 0)
}

/** A process keeps its name, by which it is started; commands may have names in common. */
function flat(path: string): string {
  return processes.includes(path) || path === 'index.js' ? basename(path) : path.replaceAll('/', '-')
}
