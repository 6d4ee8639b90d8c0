// The kinds of settings that occur in several sections of the configuration.
import { z } from 'zod'

/** A group of settings with defaults, which can be absent. */
export const section = <Shape extends z.ZodRawShape>(description: string, settings: Shape) =>
  z
    .strictObject(settings)
    .prefault({} as z.input<z.ZodObject<Shape, z.core.$strict>>)
    .describe(description)

export const disabledByDefault = (description: string) => z.boolean().default(false).describe(description)

export const enabledByDefault = (description: string) => z.boolean().default(true).describe(description)

export const requiredText = (description: string) => z.string().min(1).describe(description)

export const optionalText = (description: string) => z.string().min(1).optional().describe(description)

export const textList = (description: string, defaultValue: string[] = []) =>
  z.array(z.string().min(1)).default(defaultValue).describe(description)

/** Hours or days, such as `12h`. */
export const durationSchema = z
  .string()
  .regex(/^[1-9][0-9]{0,3}[hd]$/, 'must be a number of hours or days, such as 12h or 7d')

export const durationOrOffSchema = z
  .string()
  .regex(/^(?:off|[1-9][0-9]{0,3}[hd])$/, 'must be off, or a number of hours or days, such as 12h or 7d')
