// Replacements for the App's commands in the package for authors, which does not include their code. Each shows where to find it.
import type { Command } from 'commander'
import { formatRunAppHint } from '../output.ts'

export function addHiddenAppCommandStubs(program: Command): void {
  for (const [name, ...aliases] of [['merging', 'landings'], ['serve'], ['once'], ['demo']] as const)
    program
      .command(name, { hidden: true })
      .aliases(aliases)
      .helpOption(false)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => {
        throw new Error(
          `"${name}" is part of the GitHub App, which this package does not include. ${formatRunAppHint()}`,
        )
      })
}
