import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { startDemoEnvironment } from '../../../sandbox/demo/demo-environment.ts'

const countTcpServers = () =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap').length

test('a demo environment that cannot be set up leaves no server behind', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'demo-'))
  const before = countTcpServers()
  const bad = 'schema: olm.bundle\nname: x\nimage: a\nrelatedImages: 5\n'
  try {
    await expect(startDemoEnvironment({ directory, files: { 'catalogs/x.yaml': bad } })).rejects.toThrow(
      /iterable/,
    )
    while (countTcpServers() > before) await new Promise(setImmediate)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
