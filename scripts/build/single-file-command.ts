// Bundles the command line and `validate` into one script, and common commands into another one, which bin/catalog-bot.cjs runs.
// A script starts without resolving hundreds of files, and V8's cached code contains all functions that a command runs.
// Other lazily loaded modules remain separate files.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

/** The entry points of `validate`, and the modules that it loads lazily. Its script is small, because it starts most often. */
const validateSourceFiles = [
  'cli/output.js',
  'cli/validate.js',
  'catalogs/parsed-file-cache.js',
  'checks/validation/validate-fully.js',
  'packages/findings/render-findings.js',
  'packages/findings/render-sarif.js',
  'checks/all-rules.js',
]
/** Modules that common commands load lazily, with a package that would double the size of their script. */
const separateSourceFiles = ['cli/install-on-cluster.js', 'packages/fbc-server/opm-server.js']
/** Modules that may use their own location, because it has the same depth or neighbors in the folder of the command line. */
const pathsWithOwnLocation =
  /^(?:\.\.|cli\/|adapters\/git\/launcher|adapters\/registry\/unpack\/unpack-process-pool|catalogs\/reader-pool)/

export interface SingleFileCommandOptions {
  /** The directory of the compiled sources. */
  readonly sources: string
  /** The entry point, relative to that directory. */
  readonly entry: string
  /** The output script. */
  readonly script: string
  /** Returns the specifier of a source file that is not in the script. Receives the path relative to the sources. */
  readonly nameOf: (path: string) => string
  /** If set, the script also bundles other packages, except for these, instead of resolving them in node_modules. */
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

export function buildSingleFileCommand(options: SingleFileCommandOptions): Promise<SingleFileCommand> {
  const { entry, leaveOut } = options
  return buildScript(`import './${entry}'`, validateSourceFiles, leaveOut !== undefined, options)
}

/** Each export imports a command. The script contains other packages, too. */
export async function buildCommonCommands(
  files: readonly string[],
  sources: string,
  script: string,
): Promise<void> {
  const commands = files.map((file) => `'${file}': () => import('./${file}')`)
  await buildScript(`module.exports = { ${commands.join()} }`, undefined, true, {
    sources,
    script,
    nameOf: (path) => path,
  })
}

async function buildScript(
  contents: string,
  included: readonly string[] | undefined,
  bundlesPackages: boolean,
  { sources, script, nameOf, leaveOut }: Omit<SingleFileCommandOptions, 'entry'>,
): Promise<SingleFileCommand> {
  const later = new Set<string>()
  const leaveOthers: Plugin = {
    name: 'leave-others',
    setup(resolving) {
      resolving.onResolve({ filter: /.*/ }, ({ importer, kind, path, resolveDir }) => {
        if (isCommanderModule(importer)) return undefined
        if (!importer.startsWith(sources + sep)) return undefined
        if (path === 'commander') return { path: commanderModulePath }
        if (!path.startsWith('.') && !path.startsWith('/'))
          return bundlesPackages ? undefined : { path, external: true }
        const below = relative(sources, resolve(resolveDir, path)).split(sep).join('/')
        const isIncluded = included?.includes(below) ?? !separateSourceFiles.includes(below)
        if (kind !== 'dynamic-import' || isIncluded) return undefined
        later.add(below)
        return { path: `./${nameOf(below)}`, external: true }
      })
    },
  }
  const { metafile } = await build({
    stdin: { contents, resolveDir: sources },
    outfile: script,
    bundle: true,
    // A single function, called by bin/catalog-bot.cjs. Returns what the script exports.
    format: 'cjs',
    banner: { js: '(function (require, load, commandFolder, commandUrl, module = {}) {' },
    footer: { js: 'return module.exports })' },
    define: { 'import.meta.dirname': 'commandFolder', 'import.meta.url': 'commandUrl' },
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
  })
  const text = readFileSync(script, 'utf8')
    // A script that is no module has no import() of its own.
    .replaceAll('import("./', 'load("./')
  writeFileSync(script, `// ${createHash('sha256').update(text).digest('hex').slice(0, 16)}\n${text}`)
  const inputs = Object.keys(metafile.inputs).map((input) => resolve(input))
  for (const file of included ?? [])
    if (!inputs.includes(join(sources, file))) throw new Error(`${file} is not in ${script}`)
  for (const file of inputs.map((input) => relative(sources, input)))
    if (
      !pathsWithOwnLocation.test(file) &&
      /\bimport\.meta\b/.test(readFileSync(join(sources, file), 'utf8'))
    )
      throw new Error(`${file} uses its own location, which would be the location of the commands`)
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
