import { z } from 'zod';

const TEXT_KINDS = [z.ZodString, z.ZodStringFormat, z.ZodEnum, z.ZodLiteral];

/** Writes a value that conforms to the schema as JSON text, without validation. */
export type Serializer = (value: unknown) => string;

/**
 * Creates the serializer of a schema: its properties in schema order and no others, bigints as digits (JSON.stringify
 * refuses them, and a double would round them), absent optional properties omitted.
 * @throws Error for a schema type without an exact form, at start rather than at the first request.
 */
export function serializerOf(schema: z.core.$ZodType): Serializer {
  if (schema instanceof z.ZodObject) return objectSerializer(schema);
  if (schema instanceof z.ZodArray) return arraySerializer(serializerOf(schema.element));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return serializerOf(schema.unwrap());
  if (schema instanceof z.ZodBigInt || schema instanceof z.ZodNumber) return String;
  if (TEXT_KINDS.some((kind) => schema instanceof kind)) return JSON.stringify;
  throw new Error(`There is no serializer for a schema of type ${schema._zod.def.type}; add one here.`);
}

function objectSerializer(schema: z.ZodObject): Serializer {
  const properties = Object.entries(schema.shape).map(([name, property]) => ({
    name,
    label: `${JSON.stringify(name)}:`,
    serialize: serializerOf(property),
  }));
  return (value) => {
    const source = value as Record<string, unknown>;
    let text = '';
    for (const { name, label, serialize } of properties) {
      const member = source[name];
      if (member !== undefined) text += (text === '' ? '{' : ',') + label + serialize(member);
    }
    return text === '' ? '{}' : text + '}';
  };
}

function arraySerializer(serialize: Serializer): Serializer {
  return (value) => {
    const items = value as readonly unknown[];
    let text = '[';
    for (let index = 0; index < items.length; index++) text += (index === 0 ? '' : ',') + serialize(items[index]);
    return text + ']';
  };
}
