// What `validate` says of many findings, and of where they end, to machines.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { catalogBot } from './command.ts'

// Every command is a process of its own, on a machine that may be busy.
jest.setTimeout(60_000)

interface Report {
  passed: boolean
  leftOut?: number
  findings: {
    rule: string
    severity: string
    file: string
    line: number
    column: number
    endLine: number
    endColumn: number
  }[]
}
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'findings-'))
  for (const name of ['heads', 'many']) mkdirSync(join(folder, name))
  writeFileSync(
    join(folder, 'heads', 'c.yaml'),
    `schema: olm.package
name: foo
defaultChannel: nowhere
---
schema: olm.bundle
name: foo.v1
package: bar # what is that?
image: x/y:1
imag: 1
`,
  )
  const bundle = (n: number) => `---\nschema: olm.bundle\nname: v${n}\npackage: foo\nimage: x.y/z:${n}\n`
  writeFileSync(join(folder, 'many', 'c.yaml'), Array.from({ length: 10_000 }, (_, n) => bundle(n)).join(''))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('every finding says where it ends', async () => {
  const { code, out } = await catalogBot('validate', join(folder, 'heads'), '-o', 'json')
  expect(code).toBe(1)
  const { findings } = JSON.parse(out) as Report
  expect(findings.length).toBeGreaterThan(2)
  for (const { line, column, endLine, endColumn } of findings)
    expect(endLine > line || endColumn > column).toBe(true)
  const sarif = JSON.parse((await catalogBot('validate', join(folder, 'heads'), '-o', 'sarif')).out) as {
    runs: { results: { locations: { physicalLocation: { region: object } }[] }[] }[]
  }
  for (const { locations } of sarif.runs[0]?.results ?? [])
    expect(locations[0]?.physicalLocation.region).toMatchObject({
      endLine: expect.any(Number),
      endColumn: expect.any(Number),
    })
})

test('of ten thousand and more findings the first errors are listed, and the others counted', async () => {
  const { code, out } = await catalogBot('validate', join(folder, 'many'), '-o', 'json')
  const { findings, leftOut, passed } = JSON.parse(out) as Report
  expect({ code, passed, listed: findings.length }).toEqual({ code: 1, passed: false, listed: 5000 })
  expect(leftOut).toBeGreaterThanOrEqual(5000)
  expect(findings.every(({ severity }) => severity === 'error')).toBe(true)
  const text = await catalogBot('validate', join(folder, 'many'))
  expect(text.out).toMatch(new RegExp(`\\n… and ${leftOut} more`))
  const sarif = await catalogBot('validate', join(folder, 'many'), '-o', 'sarif')
  expect(sarif.err).toContain(`${leftOut} findings`)
})
