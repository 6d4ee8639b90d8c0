// Bundles the modules that the scripts of the command line load lazily, and the processes that start by name, together with
// other packages. Code that several of them need is in shared files, so each process loads a few files instead of hundreds.
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'

export const projectRoot = join(import.meta.dirname, '..', '..')

/** Postgres loads files next to its code. */
export const externalPackages = ['@electric-sql/pglite']
/** Expressions for a file next to the module, which is also in the folder of the command line. */
const neighborPattern =
  /findWorkerScript\('[\w-]+', import\.meta\.url\)|join\(import\.meta\.dirname, '\w|import\.meta\.resolve\(/g
/** Sources two folders deep, as the folder of the command line is. */
const sourceOfSameDepthPattern = /^(?:src|sandbox)\/[^/]+\/[^/]+$/
/** Packages that use their location only for features that catalog-bot doesn't use, such as pino's transports. */
const packagesWithUnusedLocation =
  /^(?:@grpc\/grpc-js|commander|npx-import-light|pino|thread-stream|undici)\//

export interface SplitModulesOptions {
  /** Source files relative to the root. */
  readonly entries: readonly string[]
  /** The directory that contains the folder of the command line. */
  readonly folder: string
  /** Excludes code of the App, and shortens all names, because authors download the package for a single command. */
  readonly exclusions?: Plugin
}

/** Returns the paths of the bundled files, relative to the root. */
export async function buildSplitModules({
  entries,
  folder,
  exclusions,
}: SplitModulesOptions): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: projectRoot,
    entryPoints: entries.map((path) => ({ in: path, out: toModuleName(path) })),
    outdir: folder,
    chunkNames: 'cli/part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    external: externalPackages,
    platform: 'node',
    target: 'node22',
    minify: exclusions !== undefined,
    legalComments: 'none',
    metafile: true,
    plugins: exclusions ? [exclusions] : [],
  })
  return listBundledFiles(metafile)
}

/** Processes keep their names, because they are started by name. All modules are in the folder of the command line. */
export function toModuleName(path: string): string {
  if (path === 'src/index.ts') return 'index'
  if (path === 'sandbox/demo/run-demo.ts') return 'demo/run-demo'
  const name = /^src\/(?!cli\/).*-process\.ts$/.test(path) ? basename(path) : path.replaceAll('/', '-')
  return `cli/${name.replace(/^src-|\.ts$/g, '')}`
}

/**
 * The paths of the files whose code is in the output, relative to the root. Throws if a module would find other files from the
 * folder of the command line than from its own.
 */
export function listBundledFiles({ outputs }: Metafile): readonly string[] {
  const files = Object.values(outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([path, { bytesInOutput }]) => bytesInOutput > 0 && existsSync(join(projectRoot, path)))
    .map(([path]) => path)
  for (const file of files) {
    const [, inPackage] = /.*node_modules\/(.*)/.exec(file) ?? []
    if (packagesWithUnusedLocation.test(inPackage ?? '') || sourceOfSameDepthPattern.test(file)) continue
    const text = readFileSync(join(projectRoot, file), 'utf8').replaceAll(neighborPattern, '')
    if (/\bimport\.meta\.(?:url|dirname|filename)\b|\b__(?:dirname|filename)\b/.test(text))
      throw new Error(`${file} uses its own location, which would be the folder of the command line`)
  }
  return files
}
