// Compares each call of our server with that of opm, for a catalog with unusual content. Skipped without opm.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { compareServing } from '../../../scripts/compare-serving.ts'
import { findMissingProgram } from '../../left-out.ts'
import { writeUnusualCatalog } from './unusual-catalog.ts'

const missingOpmProgram = findMissingProgram('opm')

test('every call has the same response as from opm serve', async () => {
  if (missingOpmProgram !== undefined) return
  const dir = mkdtempSync(join(tmpdir(), 'compare-serving-'))
  try {
    writeUnusualCatalog(dir)
    const { calls, random, differences } = await compareServing(dir)
    expect(differences).toEqual([])
    expect({ calls, random }).toEqual({ calls: 123, random: 0 })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
