// Bundles the command line and `validate` into one script, which bin/catalog-bot.cjs runs. The script starts without
// resolving sixty files. Lazily loaded modules remain separate files.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

/** The entry points of `validate`, and the modules that it loads lazily. */
const inlinedSourceFiles = [
  'cli/output.js',
  'cli/validate.js',
  'catalogs/parsed-file-cache.js',
  'checks/validation/validate-fully.js',
  'packages/findings/render-findings.js',
  'packages/findings/render-sarif.js',
  'checks/all-rules.js',
]

export interface SingleFileCommandOptions {
  /** The directory of the compiled sources. */
  readonly sources: string
  /** The entry point, relative to that directory. */
  readonly entry: string
  /** The output script. */
  readonly script: string
  /**
   * Returns the specifier of a source file that is not in the script. Receives the path relative to the sources.
   */
  readonly nameOf: (path: string) => string
  /**
   * If set, the script also bundles other packages, except for these, instead of resolving them in node_modules.
   */
  readonly leaveOut?: Plugin
}

export interface SingleFileCommand {
  /** The modules that the script loads lazily, relative to the sources. */
  readonly later: readonly string[]
  /** The input files. */
  readonly inputs: readonly string[]
}

/**
 * The only package that every start needs. Resolved from the project, because the output directory may have no
 * packages or different ones.
 */
const commanderModulePath = fileURLToPath(import.meta.resolve('commander'))
const isCommanderModule = (importer: string) => importer.startsWith(dirname(commanderModulePath) + sep)

export async function buildSingleFileCommand({
  sources,
  entry,
  script,
  nameOf,
  leaveOut,
}: SingleFileCommandOptions): Promise<SingleFileCommand> {
  const held = new Set([entry, ...inlinedSourceFiles].map((file) => join(sources, file)))
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
    // A single function, called by bin/catalog-bot.cjs.
    format: 'cjs',
    banner: { js: '(function (require, load, commandFolder) {' },
    footer: { js: '})' },
    define: { 'import.meta.dirname': 'commandFolder' },
    platform: 'node',
    target: 'node22',
    minifyWhitespace: true,
    minifySyntax: true,
    // Users download all packages for a single command, so the code is minified.
    minifyIdentifiers: leaveOut !== undefined,
    metafile: true,
    plugins: [
      lazyChildProcessPlugin,
      leaveOthers,
      createPackageResolutionPlugin(sources),
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
  for (const file of held)
    if (!inputs.includes(file)) throw new Error(`${relative(sources, file)} is not in the script`)
  for (const file of inputs.map((input) => relative(sources, input))) {
    const isElsewhere = !file.startsWith('..') && !file.startsWith('cli/')
    if (isElsewhere && /\bimport\.meta\b/.test(readFileSync(join(sources, file), 'utf8')))
      throw new Error(`${file} uses its own location, which would be the location of the commands`)
  }
  return { later: [...later].sort(), inputs }
}

/** commander can start other programs, but catalog-bot has none. Loading child_process would take 3 ms of 20. */
const lazyChildProcessPlugin: Plugin = {
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

/**
 * Resolves packages from the project, because the sources may be in a directory with no packages or different ones.
 */
export function createPackageResolutionPlugin(sources: string): Plugin {
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
