// The reference of the command line, from commander's definitions.
import type { Argument, Command, Option } from 'commander'
import { addAppCommands } from '../../src/cli/commands/app-commands.ts'
import { getCommandHelp, getFullCommandName, listCommands } from '../../src/cli/options.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { renderTable, formatInlineCode, wrapLines } from './markdown.ts'

const commands = listCommands(buildProgram(addAppCommands)).filter(
  (command) => command.parent !== null && command.commands.length === 0,
)
const toShortCommandName = (command: Command): string =>
  getFullCommandName(command).replace('catalog-bot ', '')

/** Options that many commands have, with the names of these commands. */
const sharedOptions = new Map(
  [...Map.groupBy(commands.flatMap(listOptionRows), ({ row }) => row.join(' | '))].filter(
    ([, uses]) => uses.length >= 6,
  ),
)

function listOptionRows(command: Command) {
  return command.options
    .filter(({ hidden }) => !hidden)
    .map((option) => ({ command, row: renderParameterRow(option, option.flags) }))
}

export function renderSharedOptions(): string {
  return renderTable(
    ['option', 'meaning', 'default', 'commands'],
    [...sharedOptions.values()].map((uses) => [
      ...(uses[0]?.row ?? []),
      uses.map(({ command }) => formatInlineCode(toShortCommandName(command))).join(', '),
    ]),
  )
}

/** A section for each command. Commands of one group that differ only in what they print share a section. */
export function renderCommands(): string {
  const sections = Map.groupBy(commands, (command) =>
    command.parent?.name() === 'list' ? 'list' : toShortCommandName(command),
  )
  return [...sections].map(([name, its]) => renderCommandSection(name, its)).join('\n\n')
}

function renderCommandSection(name: string, its: readonly Command[]): string {
  const [prose = '', exitCodes = ''] = getCommandHelp(its[0] as Command).text.split(/(?:^|\n)Exit codes:\n/)
  const rows = its.flatMap((command) => [
    ...command.registeredArguments.map((argument) =>
      renderParameterRow(argument, formatCommandArgument(argument)),
    ),
    ...listOptionRows(command).map(({ row }) => row),
  ])
  const own = [...new Map(rows.map((row) => [row.join(' | '), row]))]
  const parameters = own.filter(([key]) => !sharedOptions.has(key)).map(([, row]) => row)
  const shared = own.filter(([key]) => sharedOptions.has(key)).map(([, [flags = '']]) => flags)
  return [
    `## ${formatInlineCode(name)}`,
    wrapLines(
      `${its.map(describeCommandUsage).join(' ')}${shared.length > 0 ? ` [Shared options](#shared-options): ${shared.join(', ')}.` : ''}`,
    ),
    parameters.length > 0 && renderTable(['argument or option', 'meaning', 'default'], parameters),
    renderHelpText(`${prose.trim()} ${formatExitCodes(exitCodes)}`.trim()),
  ]
    .filter(Boolean)
    .join('\n\n')
}

function describeCommandUsage(command: Command): string {
  const usage = [
    getFullCommandName(command),
    ...(command.options.length > 0 ? ['[options]'] : []),
    ...command.registeredArguments.map(formatCommandArgument),
  ].join(' ')
  const aliases = command.aliases().map((alias) => ` Alias: ${formatInlineCode(alias)}.`)
  return `${formatHelpTextAsMarkdown(command.description())}: ${formatInlineCode(usage)}.${aliases.join('')}`
}

/** Without the meanings that all commands share, which the page explains once. */
function formatExitCodes(text: string): string {
  const codes = [...text.matchAll(/^ *(\d) {2}(.*)$/gm)]
    .filter(([, , meaning = '']) => !/^(?:success|the command could not run)$/.test(meaning))
    .map(([, code = '', meaning = '']) => `${formatInlineCode(code)}: ${meaning}`)
  return codes.length === 0 ? '' : `Exit codes: ${codes.join('; ')}.`
}

/** Indented lines are code. */
function renderHelpText(text: string): string {
  return text
    .replace(
      /(?:^ {2}.*(?:\n|$))+/gm,
      (code) => `\n\`\`\`text\n${code.replace(/^ {2}/gm, '').trimEnd()}\n\`\`\`\n\n`,
    )
    .split(/\n{2,}/)
    .map((part) => (part.startsWith('```') ? part : wrapLines(formatHelpTextAsMarkdown(part.trim()))))
    .join('\n\n')
}

/** Placeholders and options as code, and the paths of documents as links. */
function formatHelpTextAsMarkdown(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith('`') ? part : part.replace(/<\w+>[\w.]*|(?<![\w-])--[a-z][a-z-]*/g, formatInlineCode),
    )
    .join('')
    .replace(/docs\/([\w-]+\/[\w-]+\.md)/g, '[docs/$1](../$1)')
}

function formatCommandArgument(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
}

function renderParameterRow(parameter: Argument | Option, name: string): readonly (string | undefined)[] {
  const { description, argChoices } = parameter
  const defaultValue = parameter.defaultValue as unknown
  const [, start = description, described, end = ''] =
    /^(.*?) ?\(default: ([^)]*)\)(.*)$/.exec(description) ?? []
  const isRequired = 'mandatory' in parameter && parameter.mandatory
  const choices = argChoices === undefined ? '' : ` (${argChoices.map(formatInlineCode).join(', ')})`
  const shown =
    typeof defaultValue === 'string' || typeof defaultValue === 'number'
      ? formatInlineCode(String(defaultValue))
      : ''
  return [
    formatInlineCode(name),
    `${formatHelpTextAsMarkdown(`${start}${end}`)}${choices}${isRequired ? ' (required)' : ''}`,
    described ?? shown,
  ]
}
