import unittest
from client import ask


class Pets(unittest.TestCase):
    def test_1_list(self):
        self.assertEqual(len(ask('GET', '/pets?limit=5')), 5)

    def test_2_read(self):
        self.assertEqual(ask('GET', '/pets/3')['id'], 3)

    def test_3_create(self):
        self.assertEqual(ask('POST', '/pets', {'name': 'Rex', 'categoryId': 1})['name'], 'Rex')

    def test_4_count(self):
        self.assertEqual(len(ask('GET', '/pets?limit=100')), 41)
