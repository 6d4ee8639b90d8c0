// `install` as people run it: what it prints, and its three exit codes.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { smallBundle } from '../checks/install/small-bundle.ts'
import { writtenBlobs } from '../checks/install/written-catalog.ts'
import { catalogBotIn } from './command.ts'

let folder: string
const place = (path: string, content: Uint8Array | string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'install-'))
  const lines = [
    'foo/stable 1.1.0 replaces 1.0.0',
    'foo/stable 1.0.0',
    'lone/stable 1.0.0',
    'lone 1.0.0 needs Red',
  ]
  place(
    'catalog/catalog.json',
    writtenBlobs(lines)
      .map((blob) => JSON.stringify(blob))
      .join('\n'),
  )
  for (const [path, bytes] of smallBundle('foo.v1.1.0', 'foo')) place(`bundle/${path}`, bytes)
})
afterAll(() => rmSync(folder, { recursive: true }))

test('install says whether a package installs, by its words and its exit code', async () => {
  const install = (...parameters: string[]) => catalogBotIn(folder, 'install', 'catalog', ...parameters)
  const [yes, no, unknown, absent] = await Promise.all([
    install('--package', 'foo', '--bundle', 'foo.v1.1.0=bundle', '--objects', '-o', 'json'),
    install('--package', 'lone', '--offline'),
    install('--package', 'foo', '--offline'),
    install('--package', 'nowhere'),
  ])
  expect(yes).toMatchObject({ code: 0, err: '' })
  expect(JSON.parse(yes.out)).toMatchObject({
    package: 'foo',
    installs: 'yes',
    channels: [{ channel: 'stable', bundle: 'foo.v1.1.0', objects: [{ kind: 'Deployment' }] }],
  })
  expect(no.code).toBe(1)
  expect(no.out).toContain('bundle lone.v1.0.0 requires an operator providing an API')
  expect(unknown.code).toBe(2)
  expect(unknown.out).toContain('foo, channel stable: foo.v1.1.0: could not be found out')
  expect(absent).toMatchObject({ code: 2, out: '', err: expect.stringContaining('has no package "nowhere"') })
})
