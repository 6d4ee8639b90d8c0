// Replacements for the App's commands in the package for authors, which does not include their code. Each shows where to find it.
import type { Command } from 'commander'

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
          `"${name}" is not included in this package, because it is part of the GitHub App. To run the App, see https://github.com/catalog-bot/catalog-bot/blob/main/docs/start.md`,
        )
      })
}
