// The generated completion scripts: the one for bash runs in bash, and the others contain every command and option.
import { execFileSync } from 'node:child_process'
import { describe, expect, test } from '@jest/globals'
import { addAppCommands } from '../../src/cli/commands/app-commands.ts'
import { renderCompletionScript } from '../../src/cli/completion.ts'
import { listCommands } from '../../src/cli/options.ts'
import { buildProgram } from '../../src/cli/program.ts'

const cliProgram = buildProgram(addAppCommands)

/** The completions by bash for the last word of each of these command lines. */
function completeWithBash(lines: readonly (readonly string[])[]): string[][] {
  const completionRequests = lines
    .map(
      (commandLine) =>
        `COMP_WORDS=(catalog-bot ${commandLine.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${commandLine.length}; _catalog_bot; echo "\${COMPREPLY[*]}"`,
    )
    .join('\n')
  const out = execFileSync('bash', ['--norc'], {
    input: `set -u\n${renderCompletionScript(cliProgram, 'bash')}\n${completionRequests}\n`,
    encoding: 'utf8',
  })
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' ').filter(Boolean))
}

test('bash completes commands, those below them, options, and what an option or argument may be', () => {
  const cases: [string[], string[]][] = [
    [['val'], ['validate']],
    [
      ['bundle', ''],
      ['validate', 'render'],
    ],
    [['list', 'b'], ['bundles']],
    [['validate', '--pro'], ['--profile']],
    [
      ['validate', '--profile', ''],
      ['full', 'opm'],
    ],
    [['validate', '-o', 's'], ['sarif']],
    [['list', 'bundles', 'dir', '-o', 'j'], ['json']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['merging', 'u'], ['unfreeze']],
    // A path, which bash completes.
    [['validate', '--config', 'x'], []],
    [['graph', 'val'], []],
    [
      ['no-such', '--'],
      ['--version', '--help'],
    ],
  ]
  const found = completeWithBash(cases.map(([commandLine]) => commandLine))
  expect(cases.map(([commandLine], at) => [commandLine, found[at]])).toEqual(cases)
})

describe.each(['zsh', 'fish'] as const)('%s', (shell) => {
  const script = renderCompletionScript(cliProgram, shell)

  test('has every command and every option', () => {
    for (const command of listCommands(cliProgram)) {
      expect(script).toContain(command.name())
      for (const { long } of command.options.filter(({ hidden }) => !hidden))
        expect(script).toContain(shell === 'fish' ? `-l ${long?.slice(2)}` : `${long}[`)
    }
  })
})
