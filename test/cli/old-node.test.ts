// The command under a Node.js that is too old: it uses a newer one installed next to it, or reports how to get one.
import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { once } from 'node:events'
import { describe, expect, test } from '@jest/globals'
import type { CommandResult } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'

const projectRoot = join(import.meta.dirname, '..', '..')
const packageDirectory = createSelfRemovingDirectory('old-node')

for (const part of ['bin', 'package.json'])
  cpSync(join(projectRoot, part), join(packageDirectory, part), { recursive: true })
const fakeNodeVersionScript = join(packageDirectory, 'pretend.cjs')
// The command reads this version, so that the test requires no old Node.js.
writeFileSync(
  fakeNodeVersionScript,
  `Object.defineProperty(process, 'versions', {
     value: { ...process.versions, node: process.env.PRETENDED },
   })`,
)

function runOnNode(version: string, command: string, ...parameters: string[]): Promise<CommandResult> {
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      ['--require', fakeNodeVersionScript, command, ...parameters],
      { env: { ...process.env, PRETENDED: version, NODE_PATH: '' } },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  )
}

/** Installs a package `node` next to the command, with a script as its program. */
function installFakeNode(version: string, script: string): void {
  const nodeDirectory = join(packageDirectory, 'node_modules', 'node')
  rmSync(nodeDirectory, { recursive: true, force: true })
  mkdirSync(join(nodeDirectory, 'bin'), { recursive: true })
  writeFileSync(join(nodeDirectory, 'package.json'), JSON.stringify({ name: 'node', version }))
  writeFileSync(join(nodeDirectory, 'bin', 'node'), script, { mode: 0o755 })
}

const getCommandPath = () => join(packageDirectory, 'bin', 'catalog-bot.cjs')

describe('a Node.js that is too old', () => {
  test.each(['16.20.2', '20.20.2', '22.19.0'])(
    '%s is reported without a stack trace, and with a command to run instead',
    async (version) => {
      const { code, out, err } = await runOnNode(version, getCommandPath(), 'validate', 'x')
      expect(code).toBe(2)
      expect(out).toBe('')
      expect(err).toContain(`requires Node.js 22.20 or later, but this is Node.js ${version}`)
      expect(err).toContain(`npx --package node@24 -- node ${realpathSync(getCommandPath())} `)
      expect(err).not.toMatch(/TypeError|\n\s+at /)
    },
  )

  test('in a checkout suggests npm ci', async () => {
    mkdirSync(join(packageDirectory, 'src'))
    writeFileSync(join(packageDirectory, 'src', 'cli.ts'), '')
    const { code, err } = await runOnNode('20.20.2', getCommandPath(), '--version')
    rmSync(join(packageDirectory, 'src'), { recursive: true })
    expect(code).toBe(2)
    expect(err).toContain('Run "npm ci" in this checkout')
  })

  test('forwards all arguments to a newer one installed next to the command', async () => {
    installFakeNode('24.21.0', '#!/bin/sh\nshift\necho "newer: $*"\nexit 7\n')
    expect(await runOnNode('20.20.2', getCommandPath(), 'validate', 'a b')).toEqual({
      code: 7,
      out: 'newer: validate a b\n',
      err: '',
    })
  })

  test('forwards nothing to another old one', async () => {
    installFakeNode('20.1.0', '#!/bin/sh\necho never\n')
    const { code, out } = await runOnNode('20.20.2', getCommandPath(), '--version')
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  test('forwards SIGTERM to the newer one, and exits with its code', async () => {
    installFakeNode(
      '24.21.0',
      `#!/bin/sh\ntrap 'exit 9' TERM\necho ready\nfor i in $(seq 400); do sleep 0.05; done\n`,
    )
    const child = spawn(process.execPath, ['--require', fakeNodeVersionScript, getCommandPath(), 'serve'], {
      env: { ...process.env, PRETENDED: '20.20.2' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    expect((await once(child, 'exit'))[0]).toBe(9)
  })

  test('works in this checkout', async () => {
    const real = join(projectRoot, 'bin', 'catalog-bot.cjs')
    const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      version: string
    }
    expect(await runOnNode('20.20.2', real, '--version')).toMatchObject({ code: 0, out: `${version}\n` })
  })
})

test('the oldest Node.js that the command accepts is the minimum in package.json', () => {
  const { engines } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    engines: { node: string }
  }
  const source = readFileSync(join(projectRoot, 'bin', 'catalog-bot.cjs'), 'utf8')
  const [, oldest = ''] = /oldestNode = \[([\d, ]+)\]/.exec(source) ?? []
  expect(engines.node).toBe(`>=${oldest.replaceAll(', ', '.')}`)
})
