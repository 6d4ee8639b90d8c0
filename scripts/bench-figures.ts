// The figures that `npm run benches` measures, and what is wanted of each.

/** What is wanted of a measured value: at most this much, or at least this much of a rate. */
export interface WantedFigure {
  readonly name: string
  readonly wanted: number
  readonly unit: string
  readonly isRate?: true
}

/** The lowest times and the lowest peak memory of a command's runs. */
export interface BestRun {
  readonly wallMs: number
  readonly cpuMs: number
  readonly peakMB: number
}

export interface MeasuredCommand {
  readonly name: string
  /** A word that starts with `@` is replaced by a path: the repository, its catalog, or a data folder. */
  readonly command: string
  readonly status: number
  /** Another program than catalog-bot, which is left out if it isn't installed. */
  readonly program?: string
}

/** `serve` is stopped when it listens. */
export const measuredCommands: readonly MeasuredCommand[] = [
  { name: 'opm', program: 'opm', command: 'validate @catalog', status: 0 },
  { name: 'validate, cold', command: 'validate --profile opm --no-cache @catalog', status: 0 },
  { name: 'validate, nothing changed', command: 'validate --profile opm @catalog', status: 0 },
  { name: 'validate with all rules, cold', command: 'validate --no-cache @catalog', status: 0 },
  { name: 'install, offline', command: 'install @catalog --package kube-green --offline', status: 2 },
  {
    name: 'check, offline',
    command: 'check --repo @repository --base main --head change --author davidebianchi --offline',
    status: 0,
  },
  { name: 'first start', command: 'serve @new', status: 0 },
  { name: 'later start', command: 'serve @used', status: 0 },
]

type FindBestRun = (command: string) => BestRun

/** Figures of the commands above. NaN if a command was not measured. */
export const commandBenchmarks: readonly (WantedFigure & {
  readonly value: (find: FindBestRun) => number
})[] = [
  {
    name: 'validate, cold: processor time against opm',
    wanted: 10,
    unit: 'times faster',
    isRate: true,
    value: (find) => find('opm').cpuMs / find('validate, cold').cpuMs,
  },
  {
    name: 'validate, cold: memory against opm',
    wanted: 0.6,
    unit: 'times',
    value: (find) => find('validate, cold').peakMB / find('opm').peakMB,
  },
  ...(
    [
      ['validate, nothing changed', 60],
      ['install, offline', 400],
      ['check, offline', 400],
      ['first start', 1200],
      ['later start', 700],
    ] as const
  ).map(([name, wanted]) => ({ name, wanted, unit: 'ms', value: (find: FindBestRun) => find(name).wallMs })),
]

interface ScriptFigure extends WantedFigure {
  /** Finds the value in the script's output. Undefined for the milliseconds that the script takes. */
  readonly pattern: RegExp | undefined
}

const atMost = (name: string, wanted: number, unit: string, pattern?: RegExp): ScriptFigure => ({
  name,
  wanted,
  unit,
  pattern,
})
const atMostMs = (name: string, wanted: number, pattern?: RegExp) => atMost(name, wanted, 'ms', pattern)
const atLeast = (name: string, wanted: number, unit: string, pattern: RegExp): ScriptFigure => ({
  name,
  wanted,
  unit,
  isRate: true,
  pattern,
})

/** The burst of pull requests. */
export const burstArguments = ['70', '--waiting', '30', '--only', 'trains']

/** Figures that other npm scripts print. */
export const scriptFigures: Readonly<Record<string, readonly ScriptFigure[]>> = {
  'bench:pull': [
    atMostMs('first pull request: opened to merged', 2500, /^first.* (\d+) ms/m),
    atMostMs('warm: opened to merged', 300, /^the same.* (\d+) ms/m),
    atMostMs('warm: one evaluation', 50, /its evaluations.* (\d+) ms/),
  ],
  'bench:landing': [
    atLeast('merges in a burst', 120, '/min', /start \| ([\d.]+)/),
    atMost('the same: processor time for each', 0.35, 's', /seconds a merge \| ([\d.]+)/),
    atMost('the same: peak memory', 0.9, 'GB', /memory.* \| ([\d.]+)/),
  ],
  'bench:registry': [
    atLeast('image lookups against skopeo', 15, 'times faster', /as fast as skopeo +([\d.]+)/),
    atLeast('the same, 16 at once', 15, 'times faster', /as fast as skopeo +\S+ +([\d.]+)/),
    atLeast('the same, 64 at once', 15, 'times faster', /as fast as skopeo +\S+ +\S+ +([\d.]+)/),
  ],
  'bench:pages': [atMostMs('page of 500 pull requests', 20, /the page +([\d.]+)/)],
  demo: [atMostMs('demo', 8000)],
  test: [atMostMs('tests', 300_000)],
}

/** The arguments that keep each benchmark short. */
export const smallestArguments: Readonly<Record<string, readonly string[]>> = {
  'bench:hostile': ['--scale', '0.001', '--only', 'keys of JSON'],
  'bench:registry': ['--quick'],
  'bench:pull': ['--megabytes', '2'],
  'bench:build': ['', '1', '2'],
  'bench:deliveries': ['20', '1'],
  'bench:publish': ['2'],
  'bench:pages': ['--pulls', '20', '--runs', '3', '--quick'],
  'bench:untrusted-pulls': ['--after', '1'],
  'bench:landing': ['2', '--megabytes', '1', '--latency', '1'],
  // A fixed seed and a fixed number of rounds on every machine. Otherwise a new finding would fail an unrelated
  // build. For real fuzzing, omit both.
  'fuzz:reader': ['--rounds', '1500', '--seed', '1'],
  'fuzz:archives': ['--rounds', '150', '--seed', '1'],
}
