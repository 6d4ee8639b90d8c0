// The Dockerfile is the one that opm writes. It is compared with the output of opm where opm is installed.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { renderDockerfile } from '../../../src/adapters/image/local-build.ts'
import { runOpm } from '../../run-opm.ts'

const dockerfileOptions = {
  directory: 'catalog',
  base: 'quay.io/operator-framework/opm:latest',
  builder: 'quay.io/operator-framework/opm:latest',
  labels: {},
}

describe('the Dockerfile', () => {
  test.each([
    ['with the defaults', {}, []],
    ['with labels, sorted', { labels: { b: '2', a: 'x y' } }, ['-l', 'b=2', '-l', 'a=x y']],
    [
      'with other images',
      { base: 'quay.io/o/base:1', builder: 'b:2' },
      ['-i', 'quay.io/o/base:1', '-b', 'b:2'],
    ],
    ['without a base', { base: 'scratch' }, ['-i', 'scratch']],
  ])('%s is the same as from opm', (_name, more, args) => {
    const folder = mkdtempSync(join(tmpdir(), 'dockerfile-'))
    try {
      mkdirSync(join(folder, 'catalog'))
      const run = runOpm(['generate', 'dockerfile', join(folder, 'catalog'), ...args])
      const ours = renderDockerfile({ ...dockerfileOptions, ...more })
      expect(ours).toMatch(/^# The builder image/)
      if (run) expect(ours).toBe(readFileSync(join(folder, 'catalog.Dockerfile'), 'utf8'))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
  test('is an error if the builder image is scratch', () => {
    expect(() => renderDockerfile({ ...dockerfileOptions, builder: 'scratch' })).toThrow(
      'invalid builder image: "scratch"',
    )
  })
})
