// Files made to hurt, at full size, each through the command line as a whole process: what it costs and what it says.
// usage: npm run bench:hostile -- [--only PART-OF-A-NAME] [--scale N] [--profile opm|full]; N of 0.1 makes a tenth of every
// input. A part that begins with `=` is the whole name.
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
import { builtCommand } from './built-command.ts'
import { measure } from './measured-process.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    scale: { type: 'string', default: '1' },
    profile: { type: 'string', default: 'full' },
  },
})
const scale = Number(values.scale)
const scratch = mkdtempSync(join(tmpdir(), 'hostile-command-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 10 }))
const cli = builtCommand(join(scratch, 'package'))
/** The place of the compiled program; of a catalog nothing is kept. */
const environment = { ...process.env, CATALOG_BOT_CACHE: join(scratch, 'cache') }
const megabyte = 1_000_000

/** Text in pieces of about a megabyte, so that this process needs no more memory than that. */
type Pieces = Iterable<string | Uint8Array>

/** `before`, then `unit` until so many megabytes are reached, then `after`. */
function* filled(before: string, unit: string, megabytes: number, after = '\n'): Pieces {
  const count = Math.max(1, Math.floor(megabyte / unit.length))
  yield before
  for (let left = Math.floor((megabytes * scale * megabyte) / unit.length); left > 0; left -= count)
    yield unit.repeat(Math.min(left, count))
  yield after
}

/** `before`, then what `unit` makes of each number, then `after`. */
function* numbered(before: string, count: number, unit: (at: number) => string, after = '\n'): Pieces {
  yield before
  for (let at = 0; at < count * scale; at += 10_000) {
    const length = Math.min(10_000, Math.ceil(count * scale) - at)
    yield Array.from({ length }, (_, offset) => unit(at + offset)).join('')
  }
  yield after
}

const head = 'schema: x\n'
/** What the fast reader leaves to the exact one. */
const odd = 'schema: &a x\n'
const bundle = 'schema: olm.bundle\nname: a.v1.0.0\npackage: a\nimage: a\n'
const channel = 'schema: olm.channel\nname: c\npackage: a\nentries:\n'
const tenLetters = [...'abcdefghij']
const object = Buffer.from('{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"}}').toString('base64')

/** One file each, by what it is. */
const files: Readonly<Record<string, () => Pieces>> = {
  '100 MB literal, one line': () => filled(`${head}a: |\n  `, 'x', 100),
  '100 MB literal, lines of 80': () => filled(`${head}a: |\n`, `  ${'x'.repeat(77)}\n`, 100),
  '100 MB literal, lines of one letter': () => filled(`${head}a: |\n`, '  x\n', 100),
  '100 MB literal, odd, one line': () => filled(`${odd}a: |\n  `, 'x', 100),
  '100 MB literal, odd, lines of 80': () => filled(`${odd}a: |\n`, `  ${'x'.repeat(77)}\n`, 100),
  '100 MB literal, odd, lines of one letter': () => filled(`${odd}a: |\n`, '  x\n', 100),
  '100 MB folded, lines of one letter': () => filled(`${head}a: >\n`, '  x\n', 100),
  '100 MB literal, empty lines': () => filled(`${odd}a: |+\n`, '\n', 100),
  '100 MB of a description': () => filled('schema: olm.package\nname: a\ndescription: |\n', '  x\n', 100),
  '100 MB double-quoted': () => filled(`${odd}a: "`, 'x', 100, '"\n'),
  '100 MB of escapes': () => filled(`${head}a: "`, '\\n', 100, '"\n'),
  '100 MB of escapes, odd': () => filled(`${odd}a: "`, '\\n', 100, '"\n'),
  '100 MB of numeric escapes, odd': () => filled(`${odd}a: "`, '\\x41', 100, '"\n'),
  '100 MB of escapes in a name': () =>
    filled('schema: olm.package\nname: "', '\\n', 100, '"\ndefaultChannel: a\n'),
  "100 MB of '' in single quotes, odd": () => filled(`${odd}a: '`, "''", 100, "'\n"),
  '100 MB of quoted words': () => filled(`${odd}a: "`, 'x ', 100, '"\n'),
  '40 MB double-quoted, many lines': () => filled(`${odd}a: "`, 'x\n ', 40, '"\n'),
  '40 MB single-quoted, many lines': () => filled(`${odd}a: '`, 'x\n ', 40, "'\n"),
  '40 MB plain, many lines': () => filled(`${odd}a: `, 'x\n  ', 40),
  '100 MB plain, blanks': () => filled(`${odd}a: `, 'x ', 100),
  '100 MB comment': () => filled(`${odd}# `, 'x', 100),
  '100 MB of comments': () => filled(odd, '#\n', 100),
  '100 MB of blank lines': () => filled(odd, '\n', 100, 'a: b\n'),
  '100 MB tag': () => filled(`${head}a: !`, 'x', 100, ' b\n'),
  '100 MB anchor': () => filled(`${head}a: &`, 'x', 100, ' b\n'),
  '100 MB JSON text': () => filled('{"schema":"x","a":"', 'x', 100, '"}'),
  '100 MB of JSON escapes': () => filled('{"schema":"x","a":"', '\\n', 100, '"}'),
  '100 MB of digits': () => filled(`${odd}a: 1`, '1', 100),
  'a million keys': () => numbered(head, 1e6, (at) => `k${at}: v\n`),
  'a million keys, odd': () => numbered(odd, 1e6, (at) => `k${at}: v\n`),
  'a million keys in braces': () => numbered('schema: x\na: {', 1e6, (at) => `k${at}: v, `, '}\n'),
  'a million keys of JSON': () => numbered('{"schema":"x"', 1e6, (at) => `,"k${at}":1`, '}'),
  'a million keys in capitals': () => numbered(head, 1e6, (at) => `K${at}: v\n`),
  'a million keys of a package': () => numbered('schema: olm.package\nname: a\n', 1e6, (at) => `k${at}: v\n`),
  'one key a million times': () => numbered(head, 1e6, () => 'k: v\n'),
  'a million items, odd': () => numbered(`${odd}a:\n`, 1e6, () => '- v\n'),
  'a million items in brackets': () => numbered('schema: x\na: [', 1e6, () => 'v,', ']\n'),
  'a million merges': () => numbered('schema: &a x\nb: &b {c: d}\ne:\n', 1e6, () => '- <<: *b\n'),
  '500,000 bundle objects': () =>
    numbered(
      `${bundle}properties:\n`,
      500_000,
      () => `- type: olm.bundle.object\n  value:\n    data: ${object}\n`,
    ),
  '500,000 bundle objects, odd': () =>
    numbered(
      `${bundle}properties:\n`,
      500_000,
      () => `- {type: olm.bundle.object, value: {data: ${object}}}\n`,
    ),
  '500,000 properties': () =>
    numbered(`${bundle}properties:\n`, 500_000, (at) => `- type: t${at}\n  value: {}\n`),
  '500,000 properties, odd': () =>
    numbered(`${bundle}properties:\n`, 500_000, (at) => `- {type: t${at}, value: {}}\n`),
  '500,000 properties, alike': () =>
    numbered(
      `${bundle}properties:\n`,
      500_000,
      () => '- type: olm.gvk\n  value:\n    group: g\n    kind: k\n    version: v\n',
    ),
  '500,000 properties of a wrong value': () =>
    numbered(`${bundle}properties:\n`, 500_000, () => '- type: olm.gvk\n  value: 1\n'),
  '500,000 entries': () => numbered(channel, 500_000, (at) => `- name: a.v${at + 1}\n  replaces: a.v${at}\n`),
  '500,000 entries of JSON': () =>
    numbered(
      '{"schema":"olm.channel","name":"c","package":"a","entries":[{}',
      500_000,
      (at) => `,{"name":"a.v${at}"}`,
      ']}',
    ),
  '500,000 wrong entries': () => numbered(channel, 500_000, () => '- name: 1\n'),
  '500,000 entries of one name': () => numbered(channel, 500_000, () => '- name: a\n'),
  '500,000 empty skips': () => numbered(`${channel}- name: a\n  skips:\n`, 500_000, () => '  - ""\n'),
  '500,000 broken images': () =>
    numbered(`${bundle}relatedImages:\n`, 500_000, () => '- name: a\n  image: A:B:C\n'),
  '500,000 documents': () => numbered('', 500_000, (at) => `---\nschema: x\nname: n${at}\n`),
  '500,000 documents of JSON': () => numbered('', 500_000, (at) => `{"schema":"x","name":"n${at}"}\n`),
  '500,000 bundles': () =>
    numbered('', 500_000, (at) => `---\nschema: olm.bundle\nname: a.v${at}\npackage: a\nimage: a\n`),
  '500,000 channels of nothing': () =>
    numbered('', 500_000, (at) => `---\nschema: olm.channel\nname: c${at}\npackage: a\n`),
  '500,000 deprecations': () =>
    numbered(
      'schema: olm.package\nname: a\n---\nschema: olm.deprecations\npackage: a\nentries:\n',
      500_000,
      (at) => `- message: m\n  reference:\n    schema: olm.bundle\n    name: a.v${at}\n`,
    ),
  'a million keys of a value': () =>
    numbered(`${bundle}properties:\n- type: t\n  value:\n`, 1e6, (at) => `    k${at}: v\n`),
  'a million keys of a value in braces': () =>
    numbered(`${bundle}properties:\n- {type: t, value: {`, 1e6, (at) => `k${at}: v, `, '}}\n'),
  'a million keys of a value of JSON': () =>
    numbered(
      '{"schema":"olm.bundle","name":"a","package":"a","image":"a","properties":[{"type":"t","value":{"k":1',
      1e6,
      (at) => `,"k${at}":1`,
      '}}]}',
    ),
  'a million numbers in a value': () =>
    numbered(`${bundle}properties:\n- type: t\n  value:\n`, 1e6, () => '  - 010\n'),
  'a million anchors': () => numbered(`${odd}a:\n`, 1e6, (at) => `- &a${at} v\n`),
  'a million aliases': () => numbered('schema: &a x\na:\n', 1e6, () => '- *a\n'),
  'a million aliases of a list': () => numbered(`schema: x\nb: &b [c]\na:\n`, 3e5, () => '- *b\n- d\n- e\n'),
  'a million tags': () => numbered(`${odd}a:\n`, 1e6, () => '- !t v\n'),
  'a million handles': () => numbered('', 1e6, (at) => `%TAG !t${at}! t\n`, '---\nschema: x\n'),
  'a thousand times nine thousand levels': () =>
    numbered(`${odd}a:\n`, 1e3, () => `- ${'['.repeat(9000)}${']'.repeat(9000)}\n`),
  'nine thousand levels of braces': () => [`${head}a: ${'{a: '.repeat(9000)}${'}'.repeat(9000)}\n`],
  'five thousand levels of a block': () => numbered(head, 5000, (at) => `${' '.repeat(at)}a:\n`),
  'a million keys without a colon': () => numbered(head, 1e6, (at) => `k${at}\n`),
  'a million question marks': () => numbered(head, 1e6, () => '? a\n'),
  '500,000 wrong properties': () => numbered(`${bundle}properties:\n`, 500_000, () => '- type: 1\n'),
  '200,000 packages': () => numbered('', 200_000, (at) => `---\nschema: olm.package\nname: p${at}\n`),
  'a million separators': () => numbered('', 1e6, () => '---\n'),
  '300,000 broken documents': () => numbered('', 300_000, () => '---\na: [\n'),
  'a bomb of aliases': () => [
    `${tenLetters
      .map(
        (name, at) =>
          `${name}: &${name} [${Array(9)
            .fill(at === 0 ? 'x' : `*${tenLetters[at - 1]}`)
            .join(',')}]`,
      )
      .join('\n')}\n${head}`,
  ],
  'fifty million brackets': () => filled(`${head}a: `, '[', 50),
  'fifty million brackets of JSON': () => filled('{"schema":"x","a":', '[', 50),
  'twenty million dashes': () => filled(`${head}a:\n`, '- ', 40),
  '100 MB of bytes that are no UTF-8': function* () {
    for (let left = 100 * scale; left > 0; left--) yield new Uint8Array(megabyte).fill(0x80)
  },
  '100 MB of NUL': () => filled('', '\0', 100),
  '50 MB of a wide letter, odd': () => filled(`${odd}a: "`, 'é', 25, '"\n'),
}

/** Whole directories, by what they are. */
const trees: Readonly<Record<string, (directory: string) => void>> = {
  '10,000 files': (directory) => manyFiles(directory),
  '10,000 broken files': (directory) => manyFiles(directory, 10_000, 'a: [\n'),
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

/** Pull requests, by what they add to a catalog of one package. */
const pulls: Readonly<Record<string, (root: string) => void>> = {
  'a pull request of 10,000 files': (root) => manyFiles(root),
  'a pull request of 10,000 owner files': (root) => {
    for (let at = 0; at < 10_000 * scale; at++) {
      mkdirSync(join(root, `p${at}`), { recursive: true })
      writeFileSync(join(root, `p${at}`, 'OWNERS'), `approvers: [owner-${at}]\n`)
    }
  },
  'a pull request of 10,000 links': (root) => {
    for (let at = 0; at < 10_000 * scale; at++) symlinkSync('p0/catalog.yaml', join(root, `l${at}.yaml`))
  },
  'a pull request of 500,000 wrong properties': (root) => {
    mkdirSync(join(root, 'q'))
    writePieces(join(root, 'q', 'catalog.yaml'), files['500,000 wrong properties']?.() ?? [])
  },
  'a pull request of 200,000 packages': (root) => {
    mkdirSync(join(root, 'q'))
    writePieces(join(root, 'q', 'catalog.yaml'), files['200,000 packages']?.() ?? [])
  },
}

interface Case {
  readonly name: string
  readonly fill: (directory: string) => void
  readonly command: (directory: string) => readonly string[]
}

const validate = (directory: string): readonly string[] => [
  'validate',
  '--no-cache',
  '--no-config',
  '--profile',
  values.profile,
  '-o',
  'json',
  directory,
]

const cases: readonly Case[] = [
  ...Object.entries(files).map(([name, pieces]) => ({
    name,
    fill: (directory: string) => writePieces(join(directory, 'catalog.yaml'), pieces()),
    command: validate,
  })),
  ...Object.entries(trees).map(([name, fill]) => ({ name, fill, command: validate })),
  ...Object.entries(pulls).map(([name, fill]) => ({
    name,
    fill: (directory: string) => {
      git(directory, 'init', '--quiet', '--initial-branch=main')
      manyFiles(join(directory, 'catalog'), 1)
      git(directory, 'add', '.')
      git(directory, 'commit', '--quiet', '--message=base')
      fill(join(directory, 'catalog'))
      git(directory, 'add', '.')
      git(directory, 'commit', '--quiet', '--message=head')
    },
    command: (directory: string) => [
      'check',
      '--repo',
      directory,
      '--base',
      'main~1',
      '--head',
      'main',
      '--author',
      'somebody',
      '--offline',
      '-o',
      'json',
    ],
  })),
]

// What V8 makes of the program is made once, when it is installed.
measure([...cli, 'validate', '.'], environment)
console.log(
  `${'wall s'.padStart(6)} ${'CPU s'.padStart(6)} ${'peak MB'.padStart(8)} ${'file MB'.padStart(8)}  input: first finding`,
)
for (const { name, fill, command } of cases) {
  const { only } = values
  if (only.startsWith('=') ? name !== only.slice(1) : !name.includes(only)) continue
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'))
  try {
    const directory = join(folder, 'catalog')
    mkdirSync(directory)
    fill(directory)
    const { wallMs, cpuMs, peakMB, output, status } = measure([...cli, ...command(directory)], environment)
    const size = statSync(join(directory, 'catalog.yaml'), { throwIfNoEntry: false })?.size ?? 0
    const seconds = [wallMs, cpuMs].map((ms) => (ms / 1000).toFixed(2).padStart(6))
    const figures = [...seconds, peakMB.toFixed(0).padStart(8)]
    figures.push((size / megabyte).toFixed(1).padStart(8))
    console.log(`${figures.join(' ')}  ${name}: ${firstFinding(output, status)}`)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

function manyFiles(
  directory: string,
  count = 10_000,
  content = 'schema: olm.package\ndefaultChannel: a\n',
): void {
  for (let at = 0; at < count * scale; at++) {
    mkdirSync(join(directory, `p${at}`), { recursive: true })
    const path = join(directory, `p${at}`, 'catalog.yaml')
    // The packages of a pull request come beside those that are there.
    if (!existsSync(path)) writeFileSync(path, `${content}name: p${at}\n`)
  }
}

function git(directory: string, ...words: readonly string[]): void {
  const who = ['-c', 'user.name=somebody', '-c', 'user.email=somebody@example.com', '-c', 'gc.auto=0']
  execFileSync('git', ['-C', directory, ...who, ...words])
}

function writePieces(path: string, pieces: Pieces): void {
  const file = openSync(path, 'w')
  try {
    for (const piece of pieces) writeSync(file, piece as string)
  } finally {
    closeSync(file)
  }
}

/** Rule, line and the first words of what is said first; a process that died says nothing. */
function firstFinding(output: string, status: number | null): string {
  try {
    const { findings } = JSON.parse(output) as {
      findings: { rule: string; line?: number | null; message?: string; what?: string }[]
    }
    const [first] = findings
    if (!first) return 'nothing is wrong'
    return `${first.rule}, line ${first.line ?? '-'}: ${JSON.stringify((first.message ?? first.what ?? '').slice(0, 60))} (of ${findings.length})`
  } catch {
    return `NO REPORT, status ${status}`
  }
}
