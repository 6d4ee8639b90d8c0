// Checks the layers: a layer imports only layers above it, pure layers import no platform module, there are no import
// cycles, and the published package needs no dev dependency. Only the gate can create a merge permit, and only two files,
// which require a permit, can move a base branch.
// `node scripts/layers.ts [ROOT]` lists violations and exits with 1 if there are any.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize, relative } from 'node:path'
import { findCycles } from './find-cycles.ts'

/**
 * From top to bottom. The pure layers come first. Everything after them may use Node, the network, and promises.
 */
export const pureLayers = [
  'findings',
  'config',
  'go',
  'catalog',
  'bundle',
  'change',
  'checks',
  'gate',
  'messages',
  'ports',
]
const impureLayers = [
  'workers',
  'git',
  'github',
  'registry',
  'image',
  'serving',
  'cluster',
  'store',
  'web',
  'evaluate',
  'merge',
  'app',
  'cli',
]
const layers = [...pureLayers, ...impureLayers]

/** Adapters are independent of each other: they use only the ports, and share the modules below them. */
const adapterLayers = new Set(['git', 'github', 'registry', 'image', 'serving', 'cluster', 'store'])
const allowedAdapterImports: Readonly<Record<string, readonly string[]>> = {
  image: ['registry'],
  cluster: ['registry'],
}

const mergePermitModulePath = 'src/gate/merge-permit.ts'
const mergePermitImporters = new Set(['src/gate/decide.ts'])

/**
 * Code that moves a branch, or leads to such code, by the words that it needs: Git's push, and the calls of the
 * GitHub API that merge, enqueue, or move refs, or create refs and commits. Each rule lists the files that may
 * contain the words. No other file may contain them.
 */
const restrictedOperations: readonly {
  readonly files: readonly string[]
  readonly says: string
  readonly words: readonly RegExp[]
}[] = [
  {
    files: ['src/git/push-merge.ts'],
    says: 'only git/push-merge.ts can push',
    words: [/\[\s*['"`](?:push|send-pack)['"`]/],
  },
  {
    files: ['src/github/merge-api.ts'],
    says: 'only github/merge-api.ts can merge and move refs on GitHub',
    words: [
      /\bpulls\s*\??\.\s*(?:merge|updateBranch)\b/,
      /\brepos\s*\??\.\s*(?:merge|mergeUpstream|createOrUpdateFileContents|deleteFile|renameBranch)\b/,
      /\bgit\s*\??\.\s*deleteRef\b/,
      /\b(?:merge|enqueue|dequeue)PullRequest\b|\benablePullRequestAutoMerge\b|\bupdatePullRequestBranch\b/,
      /\b(?:updateRefs?|createRef|deleteRef|mergeBranch|createCommitOnBranch)\s*\(\s*input\b/,
      // A call by its path can be any of them.
      /['"`](?:PUT|POST|PATCH|DELETE) \//,
    ],
  },
  {
    files: ['src/github/merge-api.ts', 'src/github/own-pulls.ts'],
    says: 'only github/merge-api.ts can move refs on GitHub, and github/own-pulls.ts can move the branches of catalog-bot',
    words: [/\bgit\s*\??\.\s*updateRef\b/],
  },
  {
    files: ['src/github/merge-api.ts', 'src/github/propose-tree.ts', 'src/github/own-pulls.ts'],
    says: 'only github/merge-api.ts, github/propose-tree.ts, and github/own-pulls.ts can create refs and commits on GitHub',
    words: [/\bgit\s*\??\.\s*create(?:Ref|Commit|Tree|Blob|Tag)\b/],
  },
]

/** The contents of the package. The sandbox may import any source file, but sources never import the sandbox. */
const publishedFolders = ['src', 'sandbox']

const importPattern =
  /(?:^|\n)\s*(?:import|export)\s+(?:[^'";]*?\sfrom\s+)?['"](?<from>[^'"\n]+)['"]|import\(\s*['"](?<dynamic>[^'"\n]+)['"]\s*\)/g

export interface LayerViolation {
  /** Relative to the root. */
  readonly file: string
  readonly says: string
}

interface ModuleImport {
  readonly file: string
  /** As written. */
  readonly target: string
  /** Relative to the root. Undefined for a package or a Node module. */
  readonly to: string | undefined
  readonly statement: string
}

/** All violations below `root`. Files directly in src (cli.ts) are the lowest layer and may import any other. */
export function findLayerViolations(root: string): LayerViolation[] {
  const files = publishedFolders.flatMap((folder) => listSourceFiles(root, folder))
  const imports = new Map(files.map((file) => [file, parseImports(root, file)]))
  const dependencies = readPackageDependencies(root)
  return [
    ...files.flatMap((file) => {
      const floor = getLayer(file)
      const isKnown = floor === undefined || layers.includes(floor)
      return isKnown ? [] : [{ file, says: `src/${floor} is not a layer; see ARCHITECTURE.md` }]
    }),
    ...[...imports.values()].flat().flatMap((one) => {
      const problem = findImportProblem(one) ?? findPackageProblem(one, dependencies)
      return problem === undefined ? [] : [{ file: one.file, says: problem }]
    }),
    ...files
      .filter((file) => file.startsWith('src/'))
      .flatMap((file) => findRestrictedOperations(root, file)),
    ...findCycles(
      new Map(
        [...imports].map(([file, all]) => [file, all.flatMap(({ to }) => (to === undefined ? [] : [to]))]),
      ),
    ).map(([file = '', ...others]) => ({ file, says: `imports itself through ${others.join(', ')}` })),
  ]
}

/** Comments may contain any words. */
function findRestrictedOperations(root: string, file: string): LayerViolation[] {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
  return restrictedOperations
    .filter(
      (operation) => !operation.files.includes(file) && operation.words.some((pattern) => pattern.test(text)),
    )
    .map(({ says }) => ({ file, says }))
}

function listSourceFiles(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()
}

function parseImports(root: string, file: string): ModuleImport[] {
  return [...readFileSync(join(root, file), 'utf8').matchAll(importPattern)].map((match) => {
    const target = match.groups?.from ?? match.groups?.dynamic ?? ''
    const to = target.startsWith('.') ? normalize(join(dirname(file), target)) : undefined
    return { file, target, to, statement: match[0] }
  })
}

/** Undefined for entry files and for files outside src. */
function getLayer(file: string): string | undefined {
  const [top, floor, ...rest] = file.split('/')
  return top === 'src' && rest.length > 0 ? floor : undefined
}

function findImportProblem({ file, target, to, statement }: ModuleImport): string | undefined {
  const from = getLayer(file)
  if (to === undefined)
    return from !== undefined && pureLayers.includes(from) && target.startsWith('node:')
      ? `a pure layer imports ${target}`
      : undefined
  if (to === mergePermitModulePath && /\bmint\b/.test(statement) && !mergePermitImporters.has(file))
    return 'only gate/decide.ts can mint a merge permit'
  if (!file.startsWith('src/')) return undefined
  if (!to.startsWith('src/')) return `imports ${target}, which is outside src`
  if (from === undefined) return undefined
  const floor = getLayer(to)
  if (floor === undefined) return `a layer imports ${to}, which is below all layers`
  if (floor === from) return undefined
  if (layers.indexOf(floor) > layers.indexOf(from))
    return `layer ${from} imports layer ${floor}, which is below it`
  if (
    adapterLayers.has(from) &&
    adapterLayers.has(floor) &&
    !(allowedAdapterImports[from] ?? []).includes(floor)
  )
    return `adapter ${from} imports adapter ${floor}; adapters must be independent of each other`
  return undefined
}

/** Users who install the package get its dependencies, but not its dev dependencies. */
function findPackageProblem(
  { target, to }: ModuleImport,
  dependencies: ReadonlySet<string> | undefined,
): string | undefined {
  if (to !== undefined || !dependencies || target.startsWith('node:') || builtinModules.includes(target))
    return undefined
  const name = target.split('/', target.startsWith('@') ? 2 : 1).join('/')
  return dependencies.has(name)
    ? undefined
    : `imports ${name}, which is not a dependency of the published package`
}

function readPackageDependencies(root: string): ReadonlySet<string> | undefined {
  const path = join(root, 'package.json')
  if (!existsSync(path)) return undefined
  const { dependencies = {} } = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>
  }
  return new Set(Object.keys(dependencies))
}

if (process.argv[1] === import.meta.filename) {
  const violations = findLayerViolations(process.argv[2] ?? join(import.meta.dirname, '..'))
  for (const { file, says } of violations) process.stdout.write(`${file}: ${says}\n`)
  process.stdout.write(
    violations.length === 0
      ? 'layers: all imports point to higher layers, without cycles\n'
      : `layers: ${violations.length} violations\n`,
  )
  process.exitCode = violations.length === 0 ? 0 : 1
}
