// The command line and `validate` joined into one script, which bin/catalog-bot.cjs runs: it starts without looking for sixty
// files. What is loaded only when it has to be stays elsewhere.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

/** What `validate` runs, and what it loads only when it has to. */
const includedSourceFiles = [
  'cli/output.js',
  'cli/validate.js',
  'cli/rule-url.js',
  'evaluate/catalogs/content-facts-cache.js',
  'checks/validation/validate-fully.js',
  'findings/render-text.js',
  'findings/render-sarif.js',
  'checks/all-rules.js',
]

export interface SingleFileCommandOptions {
  /** Where the sources are as JavaScript. */
  readonly sources: string
  /** The entry below that. */
  readonly entry: string
  /** The script to write. */
  readonly script: string
  /** How the script names a file of the sources that it does not hold; it is given the path below the sources. */
  readonly nameOf: (path: string) => string
  /** Where the script holds other packages, too, instead of looking for them in node_modules: what it goes without of them. */
  readonly leaveOut?: Plugin
}

export interface SingleFileCommand {
  /** What the script loads only when it has to, below the sources. */
  readonly later: readonly string[]
  /** What it was made of. */
  readonly inputs: readonly string[]
}

/** The one package that every start needs: the project's, wherever the output goes. Beside that may be none, or another. */
const commanderModulePath = fileURLToPath(import.meta.resolve('commander'))
const isCommanderModule = (importer: string) => importer.startsWith(dirname(commanderModulePath) + sep)

export async function buildSingleFileCommand({
  sources,
  entry,
  script,
  nameOf,
  leaveOut,
}: SingleFileCommandOptions): Promise<SingleFileCommand> {
  const held = new Set([entry, ...includedSourceFiles].map((file) => join(sources, file)))
  const later = new Set<string>()
  const leaveOthers: Plugin = {
    name: 'leave-others',
    setup(resolving) {
      resolving.onResolve({ filter: /.*/ }, ({ importer, kind, path, resolveDir }) => {
        if (kind === 'entry-point' || isCommanderModule(importer)) return undefined
        if (!importer.startsWith(sources + sep)) return undefined
        if (!path.startsWith('.') && !path.startsWith('/')) {
          if (path === 'commander') return { path: commanderModulePath }
          return leaveOut ? undefined : { path, external: true }
        }
        const file = resolve(resolveDir, path)
        if (kind !== 'dynamic-import' || held.has(file)) return undefined
        const below = relative(sources, file).split(sep).join('/')
        later.add(below)
        return { path: `./${nameOf(below)}`, external: true }
      })
    },
  }
  const { metafile } = await build({
    entryPoints: [join(sources, entry)],
    outfile: script,
    bundle: true,
    // One function, called by bin/catalog-bot.cjs.
    format: 'cjs',
    banner: { js: '(function (require, load, commandFolder) {' },
    footer: { js: '})' },
    define: { 'import.meta.dirname': 'commandFolder' },
    platform: 'node',
    target: 'node22',
    minifyWhitespace: true,
    minifySyntax: true,
    // Whoever downloads all packages for one command has them as short as they go.
    minifyIdentifiers: leaveOut !== undefined,
    metafile: true,
    plugins: [
      noChildProcessPlugin,
      leaveOthers,
      createProjectPackagesPlugin(sources),
      ...(leaveOut ? [leaveOut] : []),
    ],
    logLevel: 'warning',
  })
  const text = readFileSync(script, 'utf8')
    .replace(/^#!.*\n/, '')
    // A script that is no module has no import() of its own.
    .replaceAll('import("./', 'load("./')
  writeFileSync(script, `// ${createHash('sha256').update(text).digest('hex').slice(0, 16)}\n${text}`)
  const inputs = Object.keys(metafile.inputs).map((input) => resolve(input))
  for (const file of inputs.map((input) => relative(sources, input))) {
    const isElsewhere = !file.startsWith('..') && !file.startsWith('cli/')
    if (isElsewhere && /\bimport\.meta\b/.test(readFileSync(join(sources, file), 'utf8')))
      throw new Error(`${file} asks where it lies, and would be told where the commands lie`)
  }
  return { later: [...later].sort(), inputs }
}

/** commander can start other programs, and we have none: to load what starts them takes 3 ms of 20. */
const noChildProcessPlugin: Plugin = {
  name: 'start-nothing',
  setup(building) {
    building.onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      isCommanderModule(importer) ? { path: 'spawn', namespace: 'later' } : undefined,
    )
    building.onLoad({ filter: /^spawn$/, namespace: 'later' }, () => ({
      contents: `exports.spawn = (...given) => require('node:child_process').spawn(...given)`,
    }))
  },
}

/** The project's own packages for sources that lie anywhere: beside those may be none, or others. */
export function createProjectPackagesPlugin(sources: string): Plugin {
  const root = join(import.meta.dirname, '..', '..')
  return {
    name: 'own-packages',
    setup(resolving) {
      resolving.onResolve({ filter: /^[^./]/ }, ({ importer, kind, path, pluginData }) => {
        if (pluginData === 'ours' || kind === 'entry-point' || !importer.startsWith(sources + sep))
          return undefined
        return resolving.resolve(path, { kind, resolveDir: root, pluginData: 'ours' })
      })
    },
  }
}
