import { expect, test } from '@jest/globals'
import { join } from 'node:path'
import { findDeadExports } from '../../scripts/dead-exports.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'
import { writeFiles } from '../write-files.ts'

const temporaryDirectory = createSelfRemovingDirectory('exports')

test('finds an export without an import, however other exports are imported', () => {
  const files = {
    'src/a.ts': `
export const dead = 1
export async function alsoDead() {}
export class Imported {}
export const renamed = 2
export function reexported() {}
export const taken = 3
export const picked = 4
export const tested = 5
const own = 6
`,
    'src/all.ts': 'export const any = 1\nexport const other = 2\n',
    'src/deep/b.ts': `
import { Imported, renamed as changed } from '../a.ts'
import * as all from '../all.ts'
export { reexported } from '../a.ts'
const { taken: mine } = await import('../a.ts')
void (await import('../a.ts')).picked
`,
    'test/a.test.ts': "import { tested } from '../src/a.ts'\n",
    'src/index.ts': 'export const forOthers = 1\n',
    'docs/a.ts': "import { dead } from '../src/a.ts'\n",
  }
  writeFiles(temporaryDirectory, files)
  expect(findDeadExports(temporaryDirectory)).toEqual([
    { file: 'src/a.ts', name: 'dead' },
    { file: 'src/a.ts', name: 'alsoDead' },
  ])
})

test('the project has none', () => {
  expect(findDeadExports(join(import.meta.dirname, '../..'))).toEqual([])
})
