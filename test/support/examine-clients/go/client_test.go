package pets

import "testing"

type pet struct {
	ID         int    `json:"id,omitempty"`
	Name       string `json:"name"`
	CategoryID int    `json:"categoryId"`
}

func count(t *testing.T, path string, wanted int) {
	var pets []pet
	if err := ask("GET", path, nil, &pets); err != nil {
		t.Fatal(err)
	}
	if len(pets) != wanted {
		t.Fatalf("got %d pets, wanted %d", len(pets), wanted)
	}
}

func TestList(t *testing.T) { count(t, "/pets?limit=5", 5) }

func TestRead(t *testing.T) {
	var found pet
	if err := ask("GET", "/pets/3", nil, &found); err != nil || found.ID != 3 {
		t.Fatal(found, err)
	}
}

func TestCreate(t *testing.T) {
	var made pet
	if err := ask("POST", "/pets", pet{Name: "Rex", CategoryID: 1}, &made); err != nil || made.Name != "Rex" {
		t.Fatal(made, err)
	}
}

func TestCount(t *testing.T) { count(t, "/pets?limit=100", 41) }
