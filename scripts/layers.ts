// Checks the layers: a layer imports only layers above it, capabilities don't import each other, pure layers import no
// platform module, packages import only their declared dependencies, there are no import cycles, and the published
// package needs no dev dependency. Only the policy can create a merge permit, and only two files, which require a
// permit, can move a base branch.
// `node scripts/layers.ts [ROOT]` lists violations and exits with 1 if there are any.
import { existsSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { findCycles } from './find-cycles.ts'
import {
  createImportResolver,
  listFiles,
  readWorkspacePackages,
  type ImportResolver,
  type WorkspacePackage,
} from './workspaces.ts'

/**
 * From top to bottom. The pure layers come first. Everything after them may use Node, the network, and promises. The
 * first ones are packages, which know neither GitHub nor pull requests.
 */
export const pureLayers = [
  'packages/findings',
  'packages/fbc',
  'packages/bundle',
  'src/config',
  'src/pull-request',
  'src/checks',
  'src/policy',
  'src/report',
  'src/ports',
]
const impureLayers = [
  'packages/fbc-server',
  'src/adapters',
  'src/catalogs',
  'src/jobs',
  'src/evaluate',
  'src/merge',
  'src/publish',
  'src/release',
  'src/image-scan',
  'src/cluster-test',
  'src/web',
  'src/server',
  'src/cli',
]
const layers = [...pureLayers, ...impureLayers]

/** Capabilities don't import each other: they enqueue jobs. The exceptions are those of ARCHITECTURE.md. */
const capabilityLayers = new Set(
  ['evaluate', 'merge', 'publish', 'release', 'image-scan', 'cluster-test'].map((name) => `src/${name}`),
)
const allowedCapabilityImports: Readonly<Record<string, readonly string[]>> = {
  'src/merge': ['src/evaluate'],
  'src/cluster-test': ['src/publish'],
}

/** The context of every job has the clients of all capabilities, so it imports their types. */
const jobContextPath = 'src/jobs/job-context.ts'

/** Adapters are independent of each other: they use only the ports, and share the modules below them. */
const adapterFolders = new Set(['git', 'github', 'registry', 'image', 'store'])
const allowedAdapterImports: Readonly<Record<string, readonly string[]>> = { image: ['registry'] }

const mergePermitModulePath = 'src/policy/merge-permit.ts'
const mergePermitImporters = new Set(['src/policy/decide.ts'])

/**
 * Code that moves a branch, or leads to such code, by the words that it needs: Git's push, and the calls of the
 * GitHub API that merge, enqueue, or move refs, or create refs and commits. Each rule lists the files that may
 * contain the words. No other file may contain them.
 */
const restrictedOperations: readonly {
  readonly files: readonly string[]
  readonly text: string
  readonly words: readonly RegExp[]
}[] = [
  {
    files: ['src/adapters/git/push-merge.ts'],
    text: 'only adapters/git/push-merge.ts can push',
    words: [/\[\s*['"`](?:push|send-pack)['"`]/],
  },
  {
    files: ['src/adapters/github/merge-api.ts'],
    text: 'only adapters/github/merge-api.ts can merge and move refs on GitHub',
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
    files: ['src/adapters/github/merge-api.ts', 'src/adapters/github/bot-pulls.ts'],
    text: 'only adapters/github/merge-api.ts can move refs on GitHub, and adapters/github/bot-pulls.ts can move the branches of catalog-bot',
    words: [/\bgit\s*\??\.\s*updateRef\b/],
  },
  {
    files: ['src/adapters/github/merge-api.ts', 'src/adapters/github/bot-pulls.ts'],
    text: 'only adapters/github/merge-api.ts and adapters/github/bot-pulls.ts can create refs and commits on GitHub',
    words: [/\bgit\s*\??\.\s*create(?:Ref|Commit|Tree|Blob|Tag)\b/],
  },
]

/** The contents of the package. The sandbox may import any source file, but sources never import the sandbox. */
const publishedFolders = ['packages', 'src', 'sandbox']

const importPattern =
  /(?:^|\n)\s*(?:import|export)\s+(?:[^'";]*?\sfrom\s+)?['"](?<from>[^'"\n]+)['"]|import\(\s*['"](?<dynamic>[^'"\n]+)['"]\s*\)/g

export interface LayerViolation {
  /** Relative to the root. */
  readonly file: string
  readonly text: string
}

interface ModuleImport {
  /** Relative to the root. */
  readonly file: string
  /** As written. */
  readonly target: string
  /** Relative to the root. Undefined for a package or a Node module. */
  readonly to: string | undefined
  readonly statement: string
}

/** All violations below `root`. Files directly in src (cli.ts) are the lowest layer and may import any other. */
export function findLayerViolations(root: string): LayerViolation[] {
  const files = publishedFolders.flatMap((folder) => listFiles(root, folder, /\.ts$/))
  const packages = readWorkspacePackages(root)
  const resolveImport = createImportResolver(packages)
  const imports = new Map(files.map((file) => [file, parseImports(root, file, resolveImport)]))
  const dependencies = readPublishedDependencies(root)
  return [
    ...files.flatMap((file) => {
      const layer = getLayer(file)
      const isKnown = layer === undefined || layers.includes(layer)
      return isKnown ? [] : [{ file, text: `${layer} is not a layer; see ARCHITECTURE.md` }]
    }),
    ...[...imports.values()].flat().flatMap((one) => {
      const problem = findImportProblem(one) ?? findPackageImportProblem(one, dependencies, packages)
      return problem === undefined ? [] : [{ file: one.file, text: problem }]
    }),
    ...files
      .filter((file) => !file.startsWith('sandbox/'))
      .flatMap((file) => findRestrictedOperations(root, file)),
    ...findCycles(
      new Map(
        [...imports].map(([file, all]) => [file, all.flatMap(({ to }) => (to === undefined ? [] : [to]))]),
      ),
    ).map(([file = '', ...others]) => ({ file, text: `imports itself through ${others.join(', ')}` })),
  ]
}

/** Comments may contain any words. */
function findRestrictedOperations(root: string, file: string): LayerViolation[] {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
  return restrictedOperations
    .filter(
      (operation) => !operation.files.includes(file) && operation.words.some((pattern) => pattern.test(text)),
    )
    .map(({ text }) => ({ file, text }))
}

function parseImports(root: string, file: string, resolveImport: ImportResolver): ModuleImport[] {
  return [...readFileSync(join(root, file), 'utf8').matchAll(importPattern)].map((match) => {
    const target = match.groups?.from ?? match.groups?.dynamic ?? ''
    return { file, target, to: resolveImport(file, target), statement: match[0] }
  })
}

/** Undefined for entry files and for files outside src and packages. */
function getLayer(file: string): string | undefined {
  const [top, layer, ...rest] = file.split('/')
  return (top === 'src' || top === 'packages') && rest.length > 0 ? `${top}/${layer}` : undefined
}

function findImportProblem({ file, target, to, statement }: ModuleImport): string | undefined {
  const from = getLayer(file)
  if (to === undefined)
    return from !== undefined && pureLayers.includes(from) && target.startsWith('node:')
      ? `a pure layer imports ${target}`
      : undefined
  if (to === mergePermitModulePath && /\bmint\b/.test(statement) && !mergePermitImporters.has(file))
    return 'only policy/decide.ts can mint a merge permit'
  const layer = getLayer(to)
  if (layer?.startsWith('packages/') && layer !== from && target.startsWith('.'))
    return `this file imports ${target}; import the package by its name`
  if (from === undefined && !file.startsWith('src/')) return undefined
  if (!to.startsWith('src/') && !to.startsWith('packages/'))
    return `this file imports ${target}, which is outside src`
  if (from === undefined) return undefined
  if (layer === undefined) return `a layer imports ${to}, which is below all layers`
  if (layer === from) return layer === 'src/adapters' ? findAdapterImportProblem(file, to) : undefined
  if (file === jobContextPath && /^\s*import type\b/.test(statement)) return undefined
  if (layers.indexOf(layer) > layers.indexOf(from))
    return `layer ${from} imports layer ${layer}, which is below it`
  if (
    capabilityLayers.has(from) &&
    capabilityLayers.has(layer) &&
    !(allowedCapabilityImports[from] ?? []).includes(layer)
  )
    return `capability ${from} imports capability ${layer}; capabilities enqueue jobs for each other`
  return undefined
}

function findAdapterImportProblem(file: string, to: string): string | undefined {
  const [from = '', adapter = ''] = [file, to].map((path) => path.split('/')[2])
  if (adapterFolders.has(adapter) && !adapterFolders.has(from))
    return `a module that adapters share imports adapter ${adapter}`
  return from !== adapter &&
    adapterFolders.has(adapter) &&
    !(allowedAdapterImports[from] ?? []).includes(adapter)
    ? `adapter ${from} imports adapter ${adapter}; adapters must be independent of each other`
    : undefined
}

/** Users who install the package get its dependencies, but not its dev dependencies. */
function findPackageImportProblem(
  { file, target, to }: ModuleImport,
  dependencies: ReadonlySet<string> | undefined,
  packages: readonly WorkspacePackage[],
): string | undefined {
  if (target.startsWith('.') || target.startsWith('node:') || builtinModules.includes(target))
    return undefined
  const name = target.split('/', target.startsWith('@') ? 2 : 1).join('/')
  const from = packages.find(({ folder }) => file.startsWith(`${folder}/`))
  if (from !== undefined && !from.dependencies.has(name))
    return `this file imports ${name}, which ${from.folder}/package.json does not declare`
  if (packages.some((one) => one.name === name))
    return to === undefined ? `this file imports ${target}, which ${name} does not export` : undefined
  if (dependencies === undefined) return undefined
  return dependencies.has(name)
    ? undefined
    : `this file imports ${name}, which is not a dependency of the published package`
}

function readPublishedDependencies(root: string): ReadonlySet<string> | undefined {
  const path = join(root, 'package.json')
  if (!existsSync(path)) return undefined
  const { dependencies = {} } = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>
  }
  return new Set(Object.keys(dependencies))
}

if (process.argv[1] === import.meta.filename) {
  const violations = findLayerViolations(process.argv[2] ?? join(import.meta.dirname, '..'))
  for (const { file, text } of violations) process.stdout.write(`${file}: ${text}\n`)
  process.stdout.write(
    violations.length === 0
      ? 'layers: every import points to a higher layer, and no imports form a cycle\n'
      : `layers: ${violations.length} violations\n`,
  )
  process.exitCode = violations.length === 0 ? 0 : 1
}
