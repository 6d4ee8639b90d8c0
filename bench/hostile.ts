// Runs the command line on hostile files at full size, each in a separate process, and prints the cost and the first
// finding. Usage: npm run bench:hostile -- [--only PART-OF-A-NAME] [--scale N] [--profile opm|full]. With N = 0.1,
// every input has a tenth of its size. A part that starts with `=` is the whole name.
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildCatalogBotCli } from './built-command.ts'
import { measureProcess } from './measured-process.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    scale: { type: 'string', default: '1' },
    profile: { type: 'string', default: 'full' },
  },
})
const payloadSizeMultiplier = Number(values.scale)
const scratchFolder = mkdtempSync(join(tmpdir(), 'hostile-command-'))
process.on('exit', () => rmSync(scratchFolder, { recursive: true, force: true, maxRetries: 10 }))
const cliCommand = await buildCatalogBotCli()
/** The cache of the compiled program. Catalogs are not cached. */
const cliEnvironment = { ...process.env, CATALOG_BOT_CACHE: join(scratchFolder, 'cache') }
const bytesPerMegabyte = 1_000_000

/** Text in chunks of about a megabyte, to limit the memory of this process. */
type FileContentChunks = Iterable<string | Uint8Array>

/** `before`, then `unit` repeated up to this number of megabytes, then `after`. */
const repeat = (before: string, unit: string, megabytes: number, after = '\n') =>
  function* (): FileContentChunks {
    const count = Math.max(1, Math.floor(bytesPerMegabyte / unit.length))
    let remaining = Math.floor((megabytes * payloadSizeMultiplier * bytesPerMegabyte) / unit.length)
    yield before
    for (; remaining > 0; remaining -= count) yield unit.repeat(Math.min(remaining, count))
    yield after
  }

/** `before`, then the result of `unit` for each number, then `after`. */
const enumerate = (before: string, count: number, unit: (at: number) => string, after = '\n') =>
  function* (): FileContentChunks {
    yield before
    for (let at = 0; at < count * payloadSizeMultiplier; at += 10_000) {
      const length = Math.min(10_000, Math.ceil(count * payloadSizeMultiplier) - at)
      yield Array.from({ length }, (_, offset) => unit(at + offset)).join('')
    }
    yield after
  }

const header = 'schema: x\n'
/** Syntax that the fast reader leaves to the exact one. */
const oddHeader = 'schema: &a x\n'
const bundleHeader = 'schema: olm.bundle\nname: a.v1.0.0\npackage: a\nimage: a\n'
const channelHeader = 'schema: olm.channel\nname: c\npackage: a\nentries:\n'
const lettersAToJ = [...'abcdefghij']
const service = Buffer.from('{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"}}').toString('base64')

/** Single files, by description. */
const hostileFileGenerators: Readonly<Record<string, () => FileContentChunks>> = {
  '100 MB literal, one line': repeat(`${header}a: |\n  `, 'x', 100),
  '100 MB literal, lines of 80': repeat(`${header}a: |\n`, `  ${'x'.repeat(77)}\n`, 100),
  '100 MB literal, lines of one letter': repeat(`${header}a: |\n`, '  x\n', 100),
  '100 MB literal, odd, one line': repeat(`${oddHeader}a: |\n  `, 'x', 100),
  '100 MB literal, odd, lines of 80': repeat(`${oddHeader}a: |\n`, `  ${'x'.repeat(77)}\n`, 100),
  '100 MB literal, odd, lines of one letter': repeat(`${oddHeader}a: |\n`, '  x\n', 100),
  '100 MB folded, lines of one letter': repeat(`${header}a: >\n`, '  x\n', 100),
  '100 MB literal, empty lines': repeat(`${oddHeader}a: |+\n`, '\n', 100),
  '100 MB of a description': repeat('schema: olm.package\nname: a\ndescription: |\n', '  x\n', 100),
  '100 MB double-quoted': repeat(`${oddHeader}a: "`, 'x', 100, '"\n'),
  '100 MB of escapes': repeat(`${header}a: "`, '\\n', 100, '"\n'),
  '100 MB of escapes, odd': repeat(`${oddHeader}a: "`, '\\n', 100, '"\n'),
  '100 MB of numeric escapes, odd': repeat(`${oddHeader}a: "`, '\\x41', 100, '"\n'),
  '100 MB of escapes in a name': repeat('schema: olm.package\nname: "', '\\n', 100, '"\ndefaultChannel: a\n'),
  "100 MB of '' in single quotes, odd": repeat(`${oddHeader}a: '`, "''", 100, "'\n"),
  '100 MB of quoted words': repeat(`${oddHeader}a: "`, 'x ', 100, '"\n'),
  '40 MB double-quoted, many lines': repeat(`${oddHeader}a: "`, 'x\n ', 40, '"\n'),
  '40 MB single-quoted, many lines': repeat(`${oddHeader}a: '`, 'x\n ', 40, "'\n"),
  '40 MB plain, many lines': repeat(`${oddHeader}a: `, 'x\n  ', 40),
  '100 MB plain, whitespace': repeat(`${oddHeader}a: `, 'x ', 100),
  '100 MB comment': repeat(`${oddHeader}# `, 'x', 100),
  '100 MB of comments': repeat(oddHeader, '#\n', 100),
  '100 MB of blank lines': repeat(oddHeader, '\n', 100, 'a: b\n'),
  '100 MB tag': repeat(`${header}a: !`, 'x', 100, ' b\n'),
  '100 MB anchor': repeat(`${header}a: &`, 'x', 100, ' b\n'),
  '100 MB JSON text': repeat('{"schema":"x","a":"', 'x', 100, '"}'),
  '100 MB of JSON escapes': repeat('{"schema":"x","a":"', '\\n', 100, '"}'),
  '100 MB of digits': repeat(`${oddHeader}a: 1`, '1', 100),
  'a million keys': enumerate(header, 1e6, (at) => `k${at}: v\n`),
  'a million keys, odd': enumerate(oddHeader, 1e6, (at) => `k${at}: v\n`),
  'a million keys in braces': enumerate('schema: x\na: {', 1e6, (at) => `k${at}: v, `, '}\n'),
  'a million keys of JSON': enumerate('{"schema":"x"', 1e6, (at) => `,"k${at}":1`, '}'),
  'a million keys in capitals': enumerate(header, 1e6, (at) => `K${at}: v\n`),
  'a million keys of a package': enumerate('schema: olm.package\nname: a\n', 1e6, (at) => `k${at}: v\n`),
  'one key a million times': enumerate(header, 1e6, () => 'k: v\n'),
  'a million items, odd': enumerate(`${oddHeader}a:\n`, 1e6, () => '- v\n'),
  'a million items in brackets': enumerate('schema: x\na: [', 1e6, () => 'v,', ']\n'),
  'a million merges': enumerate('schema: &a x\nb: &b {c: d}\ne:\n', 1e6, () => '- <<: *b\n'),
  '500,000 bundle objects': enumerate(
    `${bundleHeader}properties:\n`,
    500_000,
    () => `- type: olm.bundle.object\n  value:\n    data: ${service}\n`,
  ),
  '500,000 bundle objects, odd': enumerate(
    `${bundleHeader}properties:\n`,
    500_000,
    () => `- {type: olm.bundle.object, value: {data: ${service}}}\n`,
  ),
  '500,000 properties': enumerate(
    `${bundleHeader}properties:\n`,
    500_000,
    (at) => `- type: t${at}\n  value: {}\n`,
  ),
  '500,000 properties, odd': enumerate(
    `${bundleHeader}properties:\n`,
    500_000,
    (at) => `- {type: t${at}, value: {}}\n`,
  ),
  '500,000 properties, alike': enumerate(
    `${bundleHeader}properties:\n`,
    500_000,
    () => '- type: olm.gvk\n  value:\n    group: g\n    kind: k\n    version: v\n',
  ),
  '500,000 properties of a wrong value': enumerate(
    `${bundleHeader}properties:\n`,
    500_000,
    () => '- type: olm.gvk\n  value: 1\n',
  ),
  '500,000 entries': enumerate(
    channelHeader,
    500_000,
    (at) => `- name: a.v${at + 1}\n  replaces: a.v${at}\n`,
  ),
  '500,000 entries of JSON': enumerate(
    '{"schema":"olm.channel","name":"c","package":"a","entries":[{}',
    500_000,
    (at) => `,{"name":"a.v${at}"}`,
    ']}',
  ),
  '500,000 wrong entries': enumerate(channelHeader, 500_000, () => '- name: 1\n'),
  '500,000 entries of one name': enumerate(channelHeader, 500_000, () => '- name: a\n'),
  '500,000 empty skips': enumerate(`${channelHeader}- name: a\n  skips:\n`, 500_000, () => '  - ""\n'),
  '500,000 broken images': enumerate(
    `${bundleHeader}relatedImages:\n`,
    500_000,
    () => '- name: a\n  image: A:B:C\n',
  ),
  '500,000 documents': enumerate('', 500_000, (at) => `---\nschema: x\nname: n${at}\n`),
  '500,000 documents of JSON': enumerate('', 500_000, (at) => `{"schema":"x","name":"n${at}"}\n`),
  '500,000 bundles': enumerate(
    '',
    500_000,
    (at) => `---\nschema: olm.bundle\nname: a.v${at}\npackage: a\nimage: a\n`,
  ),
  '500,000 channels of nothing': enumerate(
    '',
    500_000,
    (at) => `---\nschema: olm.channel\nname: c${at}\npackage: a\n`,
  ),
  '500,000 deprecations': enumerate(
    'schema: olm.package\nname: a\n---\nschema: olm.deprecations\npackage: a\nentries:\n',
    500_000,
    (at) => `- message: m\n  reference:\n    schema: olm.bundle\n    name: a.v${at}\n`,
  ),
  'a million keys of a value': enumerate(
    `${bundleHeader}properties:\n- type: t\n  value:\n`,
    1e6,
    (at) => `    k${at}: v\n`,
  ),
  'a million keys of a value in braces': enumerate(
    `${bundleHeader}properties:\n- {type: t, value: {`,
    1e6,
    (at) => `k${at}: v, `,
    '}}\n',
  ),
  'a million keys of a value of JSON': enumerate(
    '{"schema":"olm.bundle","name":"a","package":"a","image":"a","properties":[{"type":"t","value":{"k":1',
    1e6,
    (at) => `,"k${at}":1`,
    '}}]}',
  ),
  'a million numbers in a value': enumerate(
    `${bundleHeader}properties:\n- type: t\n  value:\n`,
    1e6,
    () => '  - 010\n',
  ),
  'a million anchors': enumerate(`${oddHeader}a:\n`, 1e6, (at) => `- &a${at} v\n`),
  'a million aliases': enumerate('schema: &a x\na:\n', 1e6, () => '- *a\n'),
  'a million aliases of a list': enumerate(`schema: x\nb: &b [c]\na:\n`, 3e5, () => '- *b\n- d\n- e\n'),
  'a million tags': enumerate(`${oddHeader}a:\n`, 1e6, () => '- !t v\n'),
  'a million handles': enumerate('', 1e6, (at) => `%TAG !t${at}! t\n`, '---\nschema: x\n'),
  'a thousand times nine thousand levels': enumerate(
    `${oddHeader}a:\n`,
    1e3,
    () => `- ${'['.repeat(9000)}${']'.repeat(9000)}\n`,
  ),
  'nine thousand levels of braces': () => [`${header}a: ${'{a: '.repeat(9000)}${'}'.repeat(9000)}\n`],
  'five thousand levels of a block': enumerate(header, 5000, (at) => `${' '.repeat(at)}a:\n`),
  'a million keys without a colon': enumerate(header, 1e6, (at) => `k${at}\n`),
  'a million question marks': enumerate(header, 1e6, () => '? a\n'),
  '500,000 wrong properties': enumerate(`${bundleHeader}properties:\n`, 500_000, () => '- type: 1\n'),
  '200,000 packages': enumerate('', 200_000, (at) => `---\nschema: olm.package\nname: p${at}\n`),
  'a million separators': enumerate('', 1e6, () => '---\n'),
  '300,000 broken documents': enumerate('', 300_000, () => '---\na: [\n'),
  'a bomb of aliases': () => [
    `${lettersAToJ
      .map(
        (name, at) =>
          `${name}: &${name} [${Array(9)
            .fill(at === 0 ? 'x' : `*${lettersAToJ[at - 1]}`)
            .join(',')}]`,
      )
      .join('\n')}\n${header}`,
  ],
  'fifty million brackets': repeat(`${header}a: `, '[', 50),
  'fifty million brackets of JSON': repeat('{"schema":"x","a":', '[', 50),
  'twenty million dashes': repeat(`${header}a:\n`, '- ', 40),
  '100 MB of bytes that are not UTF-8': function* () {
    for (let remaining = 100 * payloadSizeMultiplier; remaining > 0; remaining--)
      yield new Uint8Array(bytesPerMegabyte).fill(0x80)
  },
  '100 MB of NUL': repeat('', '\0', 100),
  '50 MB of a wide letter, odd': repeat(`${oddHeader}a: "`, 'é', 25, '"\n'),
}

/** Whole directories, by description. */
const hostileDirectoryWriters: Readonly<Record<string, (directory: string) => void>> = {
  '10,000 files': (directory) => writeManyCatalogFiles(directory),
  '10,000 broken files': (directory) => writeManyCatalogFiles(directory, 10_000, 'a: [\n'),
  'a link out of the tree': (directory) => {
    symlinkSync('/etc/hostname', join(directory, 'catalog.yaml'))
  },
  'a name with control characters': (directory) => {
    writeFileSync(join(directory, 'a\x1b[31m\nb.yaml'), 'a: [\n')
  },
  'a folder five hundred levels down': (directory) => {
    const path = join(directory, ...Array<string>(500).fill('d'))
    mkdirSync(path, { recursive: true })
    writeFileSync(join(path, 'catalog.yaml'), 'a: [\n')
  },
}

/** Pull requests, by the files that they add to a catalog of one package. */
const hostilePullRequests: Readonly<Record<string, (root: string) => void>> = {
  'a pull request of 10,000 files': (root) => writeManyCatalogFiles(root),
  'a pull request of 10,000 owner files': (root) => {
    for (let at = 0; at < 10_000 * payloadSizeMultiplier; at++) {
      mkdirSync(join(root, `p${at}`), { recursive: true })
      writeFileSync(join(root, `p${at}`, 'OWNERS'), `approvers: [owner-${at}]\n`)
    }
  },
  'a pull request of 10,000 links': (root) => {
    for (let at = 0; at < 10_000 * payloadSizeMultiplier; at++)
      symlinkSync('p0/catalog.yaml', join(root, `l${at}.yaml`))
  },
  'a pull request of 500,000 wrong properties': (root) => {
    mkdirSync(join(root, 'q'))
    writeContentChunks(
      join(root, 'q', 'catalog.yaml'),
      hostileFileGenerators['500,000 wrong properties']?.() ?? [],
    )
  },
  'a pull request of 200,000 packages': (root) => {
    mkdirSync(join(root, 'q'))
    writeContentChunks(join(root, 'q', 'catalog.yaml'), hostileFileGenerators['200,000 packages']?.() ?? [])
  },
}

interface HostileInputCase {
  readonly name: string
  readonly fill: (directory: string) => void
  readonly command: (directory: string) => readonly string[]
}

const validateOptions = ['--no-cache', '--no-config', '--profile', values.profile, '-o', 'json']
const checkOptions = ['--base', 'main~1', '--head', 'main', '--author', 'someone', '--offline', '-o', 'json']
const buildValidateCommandArgs = (directory: string) => ['validate', ...validateOptions, directory]

const hostileInputCases: readonly HostileInputCase[] = [
  ...Object.entries(hostileFileGenerators).map(([name, pieces]) => ({
    name,
    fill: (directory: string) => writeContentChunks(join(directory, 'catalog.yaml'), pieces()),
    command: buildValidateCommandArgs,
  })),
  ...Object.entries(hostileDirectoryWriters).map(([name, fill]) => ({
    name,
    fill,
    command: buildValidateCommandArgs,
  })),
  ...Object.entries(hostilePullRequests).map(([name, fill]) => ({
    name,
    fill: (directory: string) => {
      runGit(directory, 'init', '--quiet', '--initial-branch=main')
      writeManyCatalogFiles(join(directory, 'catalog'), 1)
      runGit(directory, 'add', '.')
      runGit(directory, 'commit', '--quiet', '--message=base')
      fill(join(directory, 'catalog'))
      runGit(directory, 'add', '.')
      runGit(directory, 'commit', '--quiet', '--message=head')
    },
    command: (directory: string) => ['check', '--repo', directory, ...checkOptions],
  })),
]

// V8's code cache is created once, at installation.
measureProcess([...cliCommand, 'validate', scratchFolder], cliEnvironment)
console.log(
  `${'wall s'.padStart(6)} ${'CPU s'.padStart(6)} ${'peak MB'.padStart(8)} ${'file MB'.padStart(8)}  input: first finding`,
)
for (const { name, fill, command } of hostileInputCases) {
  const { only } = values
  if (only.startsWith('=') ? name !== only.slice(1) : !name.includes(only)) continue
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'))
  try {
    const directory = join(folder, 'catalog')
    mkdirSync(directory)
    fill(directory)
    const { wallMs, cpuMs, peakMB, output, status } = measureProcess(
      [...cliCommand, ...command(directory)],
      cliEnvironment,
    )
    const size = statSync(join(directory, 'catalog.yaml'), { throwIfNoEntry: false })?.size ?? 0
    const seconds = [wallMs, cpuMs].map((ms) => (ms / 1000).toFixed(2).padStart(6))
    const figures = [...seconds, peakMB.toFixed(0).padStart(8)]
    figures.push((size / bytesPerMegabyte).toFixed(1).padStart(8))
    console.log(`${figures.join(' ')}  ${name}: ${formatFirstFinding(output, status)}`)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

function writeManyCatalogFiles(
  directory: string,
  count = 10_000,
  content = 'schema: olm.package\ndefaultChannel: a\n',
): void {
  for (let at = 0; at < count * payloadSizeMultiplier; at++) {
    mkdirSync(join(directory, `p${at}`), { recursive: true })
    const path = join(directory, `p${at}`, 'catalog.yaml')
    // The packages of a pull request are added to the existing ones.
    if (!existsSync(path)) writeFileSync(path, `${content}name: p${at}\n`)
  }
}

function runGit(directory: string, ...parameters: readonly string[]): void {
  const identity = ['-c', 'user.name=someone', '-c', 'user.email=someone@example.com', '-c', 'gc.auto=0']
  execFileSync('git', ['-C', directory, ...identity, ...parameters])
}

function writeContentChunks(path: string, pieces: FileContentChunks): void {
  const file = openSync(path, 'w')
  try {
    for (const piece of pieces) writeSync(file, piece as string)
  } finally {
    closeSync(file)
  }
}

/** The rule, line, and start of the first finding. A process that died has no findings. */
function formatFirstFinding(output: string, status: number | null): string {
  try {
    const { findings } = JSON.parse(output) as {
      findings: { rule: string; line?: number | null; message?: string; what?: string }[]
    }
    const [first] = findings
    if (!first) return 'no findings'
    return `${first.rule}, line ${first.line ?? '-'}: ${JSON.stringify((first.message ?? first.what ?? '').slice(0, 60))} (of ${findings.length})`
  } catch {
    return `NO REPORT, status ${status}`
  }
}
