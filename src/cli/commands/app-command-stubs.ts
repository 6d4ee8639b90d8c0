// The App's commands in the package for authors, which has none of what they run: each says where it is.
import type { Command } from 'commander'

export function addAppCommandStubs(program: Command): void {
  for (const name of ['landings', 'serve', 'once', 'demo'])
    program
      .command(name, { hidden: true })
      .helpOption(false)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => {
        throw new Error(
          `"${name}" is a command of the App, and this package is for authors. The App runs from its repository: https://github.com/catalog-bot/catalog-bot`,
        )
      })
}
