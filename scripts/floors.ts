// Guards the floors: a floor imports only floors above it, the pure floors import no platform module,
// and nobody but the gate can mint a merge permit. `node scripts/floors.ts [ROOT]`; exit 1 lists what is wrong.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'

/** From the top down. The pure floors come first; everything after them may use Node, the network and promises. */
const pure = ['findings', 'config', 'catalog', 'bundle', 'change', 'checks', 'gate', 'messages', 'ports']
const world = [
  'workers',
  'files',
  'git',
  'github',
  'registry',
  'image',
  'cluster',
  'store',
  'sandbox',
  'web',
  'app',
  'demo',
  'cli',
]
const floors = [...pure, ...world]

/** Adapters stand beside one another: they know only the ports, and meet in the app. */
const adapters = new Set(['files', 'git', 'github', 'registry', 'image', 'cluster', 'store'])
const adapterMayImport: Readonly<Record<string, readonly string[]>> = {
  image: ['registry'],
  cluster: ['registry'],
}

const mintDoor = 'gate/merge-permit.ts'
const mintedBy = new Set(['gate/decide.ts'])

const importPattern =
  /(?:^|\n)\s*(?:import|export)\s+(?:[^'";]*?\sfrom\s+)?['"](?<from>[^'"\n]+)['"]|import\(\s*['"](?<dynamic>[^'"\n]+)['"]\s*\)/g

export interface Violation {
  readonly file: string
  readonly says: string
}

/** All violations below `root`/src. Files directly in src (cli.ts) are the bottom: they may import anything. */
export function findViolations(root: string): Violation[] {
  const source = join(root, 'src')
  const violations: Violation[] = []
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts')) continue
    const path = join(entry.parentPath, entry.name)
    const file = relative(source, path)
    const from = file.includes('/') ? file.split('/')[0] : undefined
    if (from !== undefined && !floors.includes(from)) {
      violations.push({ file, says: `src/${from} is no floor: see ARCHITECTURE.md` })
      continue
    }
    for (const match of readFileSync(path, 'utf8').matchAll(importPattern)) {
      const target = match.groups?.from ?? match.groups?.dynamic ?? ''
      const to = target.startsWith('.') ? relative(source, normalize(join(dirname(path), target))) : undefined
      const says = judge(file, from, target, to, match[0])
      if (says !== undefined) violations.push({ file, says })
    }
  }
  return violations
}

function judge(
  file: string,
  from: string | undefined,
  target: string,
  to: string | undefined,
  statement: string,
) {
  if (to === undefined)
    return from !== undefined && pure.includes(from) && target.startsWith('node:')
      ? `a pure floor imports ${target}`
      : undefined
  if (to === mintDoor && /\bmint\b/.test(statement) && !mintedBy.has(file))
    return 'only gate/decide.ts may mint a merge permit'
  if (from === undefined) return undefined
  if (to.startsWith('..')) return `imports ${target}, which is outside src`
  const floor = to.includes('/') ? (to.split('/')[0] ?? '') : undefined
  if (floor === undefined) return `a floor imports src/${to}, which stands below all floors`
  if (floor === from) return undefined
  if (floors.indexOf(floor) > floors.indexOf(from))
    return `floor ${from} imports floor ${floor}, which stands below it`
  if (adapters.has(from) && adapters.has(floor) && !(adapterMayImport[from] ?? []).includes(floor))
    return `adapter ${from} imports adapter ${floor}: adapters meet only in the app`
  return undefined
}

if (process.argv[1] === import.meta.filename) {
  const violations = findViolations(process.argv[2] ?? join(import.meta.dirname, '..'))
  for (const { file, says } of violations) process.stdout.write(`src/${file}: ${says}\n`)
  process.stdout.write(
    violations.length === 0 ? 'floors: every import goes up\n' : `floors: ${violations.length} wrong\n`,
  )
  process.exitCode = violations.length === 0 ? 0 : 1
}
