// All commands: each has examples that parse, no option swallows an argument, and common mistakes get a short message.
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import type { Command } from 'commander'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { moduleExclusionPlugin } from '../../scripts/build/author-exclusions.ts'
import { buildSplitModules } from '../../scripts/build/split-modules.ts'
import { addAppCommands } from '../../src/cli/commands/app-commands.ts'
import { addHiddenAppCommandStubs } from '../../src/cli/commands/app-command-stubs.ts'
import { listCommands, getCommandHelp, getFullCommandName } from '../../src/cli/options.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { exitWithError } from '../../src/cli/output.ts'
import type * as installModule from '../../src/cli/install-on-cluster.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'

const allProgramCommands = listCommands(buildProgram(addAppCommands))
const commandByFullName = allProgramCommands.map((command): [string, Command] => [
  getFullCommandName(command),
  command,
])

/** Parses a command line without running it. Returns the command that would run, the output, and the exit code. */
function parseCommandLine(
  line: readonly string[],
  addApp = addAppCommands,
  named?: string,
): { ran?: string; output: string; code?: number } {
  const program = buildProgram(addApp, named)
  let printed = ''
  let ran: string | undefined
  let code: number | undefined
  for (const command of listCommands(program)) {
    command.exitOverride((error) => {
      code = error.exitCode === 0 ? 0 : 2
      throw error
    })
    command.configureOutput({ writeOut: (text) => (printed += text), writeErr: (text) => (printed += text) })
    if (command.commands.length === 0) command.action(() => void (ran = getFullCommandName(command)))
  }
  try {
    program.parse(line, { from: 'user' })
  } catch {
    // The output was captured above.
  }
  return { output: printed, ...(ran !== undefined && { ran }), ...(code !== undefined && { code }) }
}

describe('every command', () => {
  test.each(commandByFullName)(
    '%s has a description and examples, and its help shows them',
    (path, command) => {
      expect(command.description()).not.toBe('')
      expect(getCommandHelp(command).examples).not.toEqual([])
      const { output, code } = parseCommandLine([...path.split(' ').slice(1), '--help'])
      expect(code).toBe(0)
      for (const example of getCommandHelp(command).examples)
        expect(output).toContain(`  catalog-bot ${example}\n`)
      const width = process.stdout.columns ?? 80
      expect(output.split('\n').filter((line) => /^\S/.test(line) && line.length > width)).toEqual([])
    },
  )

  test.each(commandByFullName)('the examples of %s use it, and parse', (path, command) => {
    for (const example of getCommandHelp(command).examples) {
      const { ran, output } = parseCommandLine(splitShellWords(example))
      expect({ example, output, ran }).toMatchObject({ output: '', ran: expect.any(String) })
      expect(`catalog-bot ${example} `).toContain(`${path} `)
    }
  })

  test.each(commandByFullName)('no option of %s swallows the following argument', (_, command) => {
    for (const { flags, variadic, optional } of command.options)
      expect({ flags, swallows: variadic || optional }).toEqual({ flags, swallows: false })
  })

  test.each(commandByFullName)('every option of %s is described', (_, { options }) => {
    for (const { flags, description } of options)
      expect({ flags, described: description !== '' }).toEqual({ flags, described: true })
  })

  test.each(commandByFullName.filter(([, { commands: below }]) => below.length === 0))(
    '%s validates every number it takes',
    (path, command) => {
      for (const option of command.options.filter(({ flags }) => /<(n|id)>/.test(flags)))
        for (const wrong of ['NaN', 'x', '-1', '1.5', '1e3', '0x10', ' 1', '9'.repeat(30), '']) {
          const { output, code } = parseCommandLine([
            ...path.split(' ').slice(1),
            `${option.long ?? ''}=${wrong}`,
          ])
          expect({ wrong, code }).toEqual({ wrong, code: 2 })
          expect(output).toContain('The value must be an integer')
        }
    },
  )
})

/** Splits a line like a shell, but supports only single quotes. */
function splitShellWords(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

describe('the package for authors', () => {
  const builtPackage = createSelfRemovingDirectory('author')
  test('has every command, but omits those of the App from its help', () => {
    const author = buildProgram(addHiddenAppCommandStubs)
    const help = author.helpInformation()
    for (const name of ['serve', 'merging', 'demo'])
      expect(help).not.toMatch(new RegExp(`^  ${name}[ |]`, 'm'))
    const its = author.commands.map((command) => command.name())
    for (const command of buildProgram(addAppCommands).commands) expect(its).toContain(command.name())
    for (const line of [
      ['merging', 'freeze'],
      ['landings', 'stop'],
    ])
      expect(parseCommandLine([...line, '--repository', 'a/b'], addHiddenAppCommandStubs).ran).toBe(
        'catalog-bot merging',
      )
  })

  test('does not advertise installing on a cluster', () => {
    const formatInstallHelp = (addApp: Parameters<typeof buildProgram>[0]) => {
      const program = buildProgram(addApp)
      const install = program.commands.find((command) => command.name() === 'install')
      return `${program.helpInformation()}${install?.helpInformation()}${getCommandHelp(install!).text}`
    }
    const onCluster = /kubeconfig|on a cluster|finalizers|ClusterRole|the cluster can/i
    expect(formatInstallHelp(addAppCommands)).toMatch(onCluster)
    expect(formatInstallHelp(addHiddenAppCommandStubs)).not.toMatch(onCluster)
  })

  test('rejects `install --kubeconfig`, and says where to run it', async () => {
    const entries = ['src/cli/install-on-cluster.ts']
    await buildSplitModules({ entries, folder: builtPackage, exclusions: moduleExclusionPlugin })
    const { installOnCluster } = (await import(
      join(builtPackage, 'cli/cli-install-on-cluster.js')
    )) as typeof installModule
    await expect(installOnCluster({} as never, { kubeconfig: 'kubeconfig' })).rejects.toThrow(
      /^--kubeconfig is not available in this package\. Run catalog-bot from a checkout or its container image/,
    )
  })
})

/** The expected messages, of at most four lines, because the full help would hide the mistake. */
const invalidCommandLines: readonly (readonly [string, readonly string[], string])[] = [
  ['no such command', ['valdate'], 'Did you mean validate?'],
  ['no such command at all', ['xyzzy'], "unknown command 'xyzzy'"],
  ['no such option', ['validate', '--jsno'], "unknown option '--jsno'"],
  ['an option that is nearly one', ['validate', '--outptu', 'json'], 'Did you mean --output?'],
  ['no such format', ['validate', '-o', 'xml'], 'Allowed choices are text, json, sarif'],
  ['no such profile', ['validate', '--profile', 'strict'], 'Allowed choices are full, opm'],
  ['an option without its value', ['validate', '--config'], 'argument missing'],
  ['too many arguments', ['check', 'catalogs'], 'too many arguments'],
  ['no catalog to list', ['list', 'bundles'], "missing required argument 'catalog'"],
  ['no such list', ['list', 'operators', 'c'], "unknown command 'operators'"],
  ['no such role', ['check', '--role', 'boss'], 'Allowed choices are none, read'],
  ['a name that is empty', ['check', '--approved-by', 'a,,b'], 'The list contains an empty value'],
  ['a URL', ['images', 'c', '--insecure-registry', 'http://localhost:5000'], 'Write HOST or HOST:PORT'],
  ['no such target', ['install', 'c', '--package', 'p', '--with', 'olm-v2'], 'Allowed choices are olm-v0'],
  ['several targets as words', ['install', 'c', '--package', 'p', '--with', 'olm-v0', 'olm-v1'], 'too many'],
  ['no package', ['install', 'c'], "required option '--package <name>' not specified"],
  ['channels that exclude each other', ['install', 'c', '--package', 'p', '--channel', 'a', '--all-channels'], 'cannot be used with'], // prettier-ignore
  ['no number', ['images', 'c', '--concurrency', 'many'], 'integer from 1 to 1000'],
  ['a number that is too large', ['serve-catalog', 'c', '--port', '65536'], 'integer from 0 to 65535'],
  ['a port that is none', ['serve-catalog', 'c', '--http-port', 'http'], 'integer from 0 to 65535'],
  [
    'no time',
    ['build', 'c', '--created', 'yesterday'],
    'The value must be a time in ISO 8601 format, such as',
  ],
  ['no repository of GitHub', ['doctor', '--repository', 'acme'], 'The value must have the form OWNER/NAME'],
  ['two repositories', ['doctor', 'a/b', 'c/d'], 'too many arguments'],
  ['no App', ['doctor', '--repository', 'a/b', '--app', 'mine'], 'integer greater than or equal to 1'],
  ['no such shell', ['completion', 'csh'], 'Allowed choices are bash, zsh, fish'],
  ['no such template', ['convert-template', 'semver'], 'Allowed choices are basic, substitutes'],
  ['no such action', ['merging', 'pause'], 'Allowed choices are list, freeze, unfreeze'],
  [
    'no such action under the former name',
    ['landings', 'pause'],
    'Allowed choices are list, freeze, unfreeze',
  ],
  ['no key', ['verify', 'image'], "required option '--key <file>' not specified"],
  ['no base', ['rebase', 'image'], "required option '-i, --base-image <image>' not specified"],
  ['no such migration', ['render', 'c', '--migrate-level', 'all'], 'Allowed choices are none'],
]

test.each(invalidCommandLines)('%s gets a message and a pointer to --help', (_, line, message) => {
  const { output, code, ran } = parseCommandLine(line)
  expect({ code, ran }).toEqual({ code: 2, ran: undefined })
  expect(output).toContain(message)
  expect(output).toMatch(/Run 'catalog-bot [^']*--help' for usage\.\n$/)
  expect(output.trimEnd().split('\n').length).toBeLessThanOrEqual(4)
})

/** Runs a command in this process, because one process per command would take longer than all other tests here. */
async function runCommandLine(line: readonly string[]): Promise<{ code: unknown; output: string }> {
  let printed = ''
  const listen = (text: unknown) => {
    printed += String(text)
    return true
  }
  const streams = [process.stdout, process.stderr].map((stream) =>
    jest.spyOn(stream, 'write').mockImplementation(listen as never),
  )
  const before = process.exitCode
  try {
    await buildProgram(addAppCommands).parseAsync(line, { from: 'user' }).catch(exitWithError)
    return { code: process.exitCode, output: printed }
  } finally {
    process.exitCode = before
    for (const stream of streams) stream.mockRestore()
  }
}

describe('a mistake that only shows when a command runs', () => {
  let folder: string
  const here = process.cwd()
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'mistakes-'))
    writeFileSync(join(folder, 'file'), 'text')
    mkdirSync(join(folder, 'empty'))
    process.chdir(folder)
  })
  afterAll(() => {
    process.chdir(here)
    rmSync(folder, { recursive: true, force: true })
  })

  test('gets a message and exit code 2, never a stack trace or an error code such as ENOENT', async () => {
    const lines: readonly (readonly [readonly string[], string])[] = [
      [['validate', 'nowhere'], 'no such file or directory'],
      [['validate', 'file'], 'is not a directory'],
      [['validate', '--config', 'nofile', 'empty'], 'nofile: no such file or directory'],
      [['validate', '--opm', 'v0.1', 'empty'], 'is not supported'],
      [['validate'], 'not in a Git repository'],
      [['check', '--repo', 'nowhere'], 'nowhere: no such directory'],
      [['check', '--repo', 'file'], 'is not a directory'],
      [['diff'], 'is not in a Git repository'],
      [['build', 'nowhere', '--dry-run', '-t', 'quay.io/a/b:c'], 'nowhere: no such file or directory'],
      [['build', 'empty'], 'specify exactly one of --push, --dry-run, and --oci-layout DIR'],
      [['convert-template', 'basic', 'empty'], 'is a directory: specify one file'],
      [['generate', 'dockerfile', 'file'], 'is not a directory'],
      [['init', 'foo', '--icon', 'file'], 'is not an image'],
      [['init', 'foo', '--action'], 'cannot be used with a package name'],
      [['doctor'], 'specify exactly one repository'],
      [['doctor', 'acme'], 'must have the form OWNER/NAME'],
      [['rule', 'several-haeds'], 'did you mean several-heads'],
      [['list', 'packages', 'nowhere'], 'is neither an existing file or directory nor an image reference'],
      [['sign', 'localhost:1/a/b:c', '--key', 'nokey'], 'nokey: no such file or directory'],
    ]
    for (const [line, says] of lines) {
      const { code, output } = await runCommandLine(line)
      expect({ line, code, output }).toEqual({ line, code: 2, output: expect.stringContaining(says) })
      expect(output).not.toMatch(/ENOENT|EISDIR|ENOTDIR|NaN|\n\s+at .*:\d+:\d+/)
    }
  })
})

const fullDevice = '/dev/full'

test('output that cannot be written is exit code 2 with a message, not a result', () => {
  if (!existsSync(fullDevice)) return
  const command = join(import.meta.dirname, '../../bin/catalog-bot.cjs')
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--no-warnings', command, 'rule', 'several-heads'],
    { stdio: ['ignore', openSync(fullDevice, 'w'), 'pipe'], encoding: 'utf8' },
  )
  expect([status, stderr]).toEqual([2, 'catalog-bot: the disk is full\n'])
})

test.each([['--help'], ['--no-such-option'], ['--cache'], ['-o', 'xml'], ['catalog', '--profile', 'opm']])(
  'validate %j behaves the same when the program contains no other command',
  (...words) => {
    const line = ['validate', ...words]
    expect(parseCommandLine(line, addAppCommands, 'validate')).toEqual(parseCommandLine(line))
  },
)

describe('validate, which writes to pipes without a stream,', () => {
  const folder = createSelfRemovingDirectory('validate-pipe')
  const pipe = join(folder, 'pipe')
  const catalog = join(folder, 'catalog')
  const command = [join(import.meta.dirname, '../../bin/catalog-bot.cjs'), 'validate', '-o', 'json', catalog]
  const start = (stdout: number) =>
    spawn(process.execPath, ['--no-warnings', ...command], { stdio: ['ignore', stdout, 'inherit'] })
  const isPosix = process.platform !== 'win32'

  beforeAll(() => {
    mkdirSync(catalog)
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
      writeFileSync(join(catalog, `${name}.yaml`), '---\nname: no schema\n'.repeat(100))
    if (isPosix) execFileSync('mkfifo', [pipe])
  })

  test('prints everything to a pipe that is full and does not block', async () => {
    if (!isPosix) return
    const ends = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
    const child = start(ends)
    const reader = createReadStream(pipe, { fd: openSync(pipe, 'r') })
    closeSync(ends)
    const exited = once(child, 'exit') as Promise<[number, null]>
    const output = await text(reader)
    expect(output.length).toBeGreaterThan(65_536)
    expect((JSON.parse(output) as { findings: unknown[] }).findings).toHaveLength(600)
    expect(await exited).toEqual([1, null])
  })

  test('ends with its exit code if nothing reads the pipe', async () => {
    if (!isPosix) return
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
    const writer = openSync(pipe, 'w')
    closeSync(reader)
    const [status] = (await once(start(writer), 'exit')) as [number]
    closeSync(writer)
    expect(status).toBe(1)
  })
})
