import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const projectRoot = join(import.meta.dirname, '..', '..')

test.each(readdirSync(join(projectRoot, 'packages')))(
  'the example in the README of %s prints what the README says, and the README fits on a screen',
  (name) => {
    const readme = readFileSync(join(projectRoot, 'packages', name, 'README.md'), 'utf8')
    const [, code = '', output] = /```js\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/.exec(readme) ?? []
    const printed = execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '--eval', code], {
      cwd: projectRoot,
      encoding: 'utf8',
    })
    expect(printed).toBe(output)
    expect(readme.split('\n').length).toBeLessThanOrEqual(65)
  },
)
