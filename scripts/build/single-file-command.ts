// Bundles the command line and `validate` into one script, and common commands into another one, which bin/catalog-bot.cjs runs.
// A script starts without resolving hundreds of files, and V8's cached code contains all functions that a command runs.
// Other lazily loaded modules remain separate files.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { projectRoot, listBundledFiles, toModuleName } from './split-modules.ts'

/** The entry points of `validate`, and the modules that it loads lazily. Its script is small, because it starts most often. */
const validateSourceFiles = [
  'src/cli/output.ts',
  'src/cli/validate.ts',
  'src/catalogs/parsed-file-cache.ts',
  'src/checks/validation/validate-fully.ts',
  'packages/findings/src/render-findings.ts',
  'packages/findings/src/render-sarif.ts',
  'src/checks/all-rules.ts',
]
/** Modules that common commands load lazily, with a package that would double the size of their script. */
const separateSourceFiles = ['src/cli/install-on-cluster.ts', 'packages/fbc-server/src/opm-server.ts']

interface ScriptOptions {
  /** The output. */
  readonly script: string
  /** Source files that are in the script of common commands, `commands.joined.js`. */
  readonly commonFiles?: readonly string[]
  /** Excludes code of the App, and shortens all names, because authors download the package for a single command. */
  readonly exclusions?: Plugin
}

export interface SingleFileCommandOptions extends ScriptOptions {
  /** The source file of the entry point. All source files are relative to the root. */
  readonly entry: string
}

export interface SingleFileCommand {
  /** The source files that the script loads lazily. */
  readonly later: readonly string[]
  /** The files that the script contains. */
  readonly inputs: readonly string[]
}

export function buildSingleFileCommand({
  entry,
  ...options
}: SingleFileCommandOptions): Promise<SingleFileCommand> {
  return buildScript(`import './${entry}'`, validateSourceFiles, options)
}

/** Each export imports a command. */
export function buildCommonCommands(files: readonly string[], script: string): Promise<SingleFileCommand> {
  const commands = files.map((file) => `'${file}': () => import('./${file}')`)
  return buildScript(`module.exports = { ${commands.join()} }`, undefined, { script })
}

async function buildScript(
  contents: string,
  included: readonly string[] | undefined,
  { script, commonFiles = [], exclusions }: ScriptOptions,
): Promise<SingleFileCommand> {
  const later = new Set<string>()
  const leaveOthers: Plugin = {
    name: 'leave-others',
    setup(resolving) {
      resolving.onResolve(
        { filter: /^(?:\.|@catalog-bot\/)/ },
        async ({ importer, kind, path, resolveDir, pluginData }) => {
          const isFromSources = importer.startsWith(projectRoot + sep) && !isPackageModule(importer)
          if (kind !== 'dynamic-import' || !isFromSources || pluginData === leaveOthers) return undefined
          const resolved = await resolving.resolve(path, {
            kind,
            importer,
            resolveDir,
            pluginData: leaveOthers,
          })
          const file = relative(projectRoot, resolved.path).split(sep).join('/')
          if (included?.includes(file) ?? !separateSourceFiles.includes(file)) return resolved
          later.add(file)
          const specifier = commonFiles.includes(file)
            ? `commands.joined.js?${file}`
            : `${toModuleName(file)}.js`
          return { path: `./${specifier}`, external: true }
        },
      )
    },
  }
  const { metafile } = await build({
    absWorkingDir: projectRoot,
    stdin: { contents, resolveDir: projectRoot },
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
    minifyIdentifiers: exclusions !== undefined,
    metafile: true,
    plugins: [lazyChildProcessPlugin, leaveOthers, ...(exclusions ? [exclusions] : [])],
  })
  const text = readFileSync(script, 'utf8')
    // A script that is no module has no import() of its own.
    .replaceAll('import("./', 'load("./')
  writeFileSync(script, `// ${createHash('sha256').update(text).digest('hex').slice(0, 16)}\n${text}`)
  const inputs = listBundledFiles(metafile)
  for (const file of included ?? [])
    if (!inputs.includes(file)) throw new Error(`${file} is not in ${script}`)
  return { later: [...later].sort(), inputs }
}

const isPackageModule = (path: string) => path.includes(`${sep}node_modules${sep}`)

/** The only package that every start needs. */
const isCommanderModule = (importer: string) =>
  importer.startsWith(join(projectRoot, 'node_modules', 'commander') + sep)

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
